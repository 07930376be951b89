//! Who spoke, which versions and capabilities, in which phase the session is.
