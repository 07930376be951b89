//! What a user may set, and where.
//!
//! * [`mod@file`]: `~/.config/mcpreel/config.toml`, every key optional, as text with positions;
//! * [`reading`]: text with positions, for this file and others of its kind;
//! * [`paths`]: which folder holds the recordings;
//! * [`viewer`], [`mod@redact`]: what the file says about the viewer, and about secrets.
//!
//! Settings stay text here: whoever uses a value compiles it, and has its position for the
//! message. Nothing here prints, and a missing file is no error. Only HOME (else the password
//! database) and `MCPREEL_DIR` matter, never any other variable or the working directory: hosts
//! start servers with little more than HOME and PATH.

pub mod file;
pub mod paths;
pub mod reading;
pub mod redact;
pub mod viewer;

pub use file::Config;
pub use paths::{Environment, FolderError, recordings_dir};
pub use reading::{Position, Problem, Setting};
pub use redact::Redact;
pub use viewer::Viewer;
