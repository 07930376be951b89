//! The viewer: recordings, live and finished, in the terminal.
//!
//! ```text
//!  keys, mouse ─▶ input ──┐                            ┌─▶ view (pure) ─▶ terminal
//!                         ├─▶ Msg ─▶ update ─▶ App ────┤
//!  recording ─▶ worker ───┘   Answer       │           └─▶ Effect ─▶ worker (Ask), clipboard, …
//! ```
//!
//! * [`app`]: the state; [`panels`]: what it consists of, one file for each panel with its state,
//!   keys, jobs and drawing; [`update`]: who gets a key, a click, an answer; [`view`]: which panel
//!   is drawn where;
//! * [`action`]: everything that can be done, as one table: keys, palette, `:` commands and help
//!   come from it; [`keymap`]: which key means which action where; [`settings`]: what a person may
//!   choose;
//! * [`worker`]: the jobs of the panels are stepped on a thread that reads the recording; the latest
//!   question of a kind counts. Replays, exports and comparisons have threads of their own;
//! * [`widget`]: pieces of drawing that know nothing of recordings; [`theme`]: colours and glyphs;
//!   [`layout`]: which panel stands where;
//! * [`runtime`]: the terminal, the loop, and what happens when it panics.
//!
//! Drawing and updating never wait: they read the state and leave questions behind. Everything
//! off the wire is escaped before it becomes a cell.

pub mod action;
pub mod app;
pub mod effect;
pub mod keymap;
pub mod layout;
pub mod notice;
pub mod panels;
pub mod runtime;
pub mod settings;
pub mod theme;
pub mod update;
pub mod view;
pub mod widget;
pub mod worker;

pub use effect::Next;
pub use runtime::{Ended, Options, run};

/// The unit tests write sessions with the same file as the integration tests and the benches.
#[cfg(test)]
#[path = "../../../tests/support/written.rs"]
#[expect(dead_code, reason = "the integration tests use all of it")]
mod written;
