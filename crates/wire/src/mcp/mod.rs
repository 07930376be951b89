//! What the Model Context Protocol says, as tables: one place per question, all revisions.
//!
//! * [`Revision`]: the published revisions, their order and era, and which one judges an unknown
//!   version string;
//! * [`methods`]: kind, direction, revisions and capability of every method. A method without an
//!   entry is legal traffic, it is only not known here;
//! * [`errors`]: what error codes mean;
//! * [`capabilities`]: what sides can declare;
//! * [`keys`]: the reserved keys of `_meta`;
//! * [`levels`]: the levels of log messages;
//! * [`TaskStatus`]: how far a task has come;
//! * [`target`]: which tool, prompt, resource or task a call is about;
//! * [`summary`]: messages and exchanges in one line.

pub mod capabilities;
pub mod errors;
pub mod keys;
pub mod levels;
mod line;
pub mod methods;
mod revision;
pub mod summary;
pub mod target;
mod task;

pub use revision::Revision;
pub use task::TaskStatus;
