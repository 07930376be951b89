//! What the Model Context Protocol says, as tables: one place per question, all revisions.
