//! What a user may set, and where.
//!
//! * [`mod@file`]: `~/.config/mcpreel/config.toml`, every key optional;
//! * [`reading`]: TOML files as text with positions, this one and files of rules;
//! * [`paths`]: which folder holds the recordings.
//!
//! Settings stay text here: whoever uses a value compiles it, and has its position for the
//! message. Nothing here prints, and a missing file is no error. Only HOME (else the password
//! database) and `MCPREEL_DIR` matter, never any other variable or the working directory: hosts
//! start servers with little more than HOME and PATH.

pub mod file;
pub mod paths;
pub mod reading;

pub use file::Config;
pub use paths::{Environment, FolderError, recordings_dir};
pub use reading::{Position, Problem, Setting};
