//! What recordings mean, without I/O: cases as files.
//!
//! | part | cases | promise |
//! |---|---|---|
//! | `pairing` | `scenarios/*.toml` | every message is paired as the specification says |
//! | `rules` | `rules/**/*.toml` | every rule fires where it should, and not where it nearly should |
//! | `causes` | `causes/*.toml` | why a session went wrong is told in one sentence |
//! | `query` | random filters | the laws of the filter language |

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/cases.rs"]
mod case_files;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../support/dice.rs"]
mod dice;
#[path = "../support/filters.rs"]
mod filters;
#[path = "rules/handshake.rs"]
mod handshake;
mod telling;
#[path = "../support/told.rs"]
mod told;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../support/written.rs"]
mod written;

#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../support/wire.rs"]
mod wire;

mod causes;
mod pairing;
mod query;
mod rules;

/// Cases in the folders of `tests/trace`.
mod cases {
    pub use crate::case_files::read;

    pub fn files(folder: &str) -> Vec<std::path::PathBuf> {
        crate::case_files::files(&format!("tests/trace/{folder}"))
    }
}
