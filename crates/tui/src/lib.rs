//! The viewer: recordings, live and finished, in the terminal.
//!
//! ```text
//!  keys, mouse ─▶ input ──┐                            ┌─▶ view (pure) ─▶ terminal
//!                         ├─▶ Msg ─▶ update ─▶ App ────┤
//!  recording ─▶ worker ───┘   Answer       │           └─▶ Effect ─▶ worker (Ask), clipboard, …
//! ```
//!
//! * [`app`]: the state, one file per panel; [`update`]: what a message changes in it, one file
//!   per panel, returning [`effect::Effect`]s; [`view`]: drawing it, one file per panel;
//! * [`action`]: everything that can be done, as one table: keys, palette, `:` commands and help
//!   come from it; [`keymap`]: which key means which action where;
//! * [`worker`]: answers [`worker::Ask`]s with [`worker::Answer`]s on threads of its own; the
//!   latest question of a kind wins;
//! * [`widget`]: pieces of drawing that know nothing of recordings; [`theme`]: colours and glyphs;
//!   [`layout`]: which panel stands where;
//! * [`runtime`]: the terminal, the loop, and what happens when it panics.
//!
//! Drawing and updating never wait: they read the state and leave questions behind. Everything
//! off the wire is escaped before it becomes a cell.
//!
//! Replays and exports are offered by their panels and made on threads of their own; a replay is
//! then shown by `comparison`, as any two recordings are.
//!
//! A panel is built in the same way each time: its state in `app/NAME.rs`, its `update/NAME.rs`
//! with `perform(&mut App, Action) -> Option<Effects>` (`None`: somebody else's) and what its
//! answers change, its drawing in `view/NAME.rs`, and what it asks in `worker/NAME.rs`.

pub mod action;
pub mod app;
pub mod effect;
pub mod keymap;
pub mod layout;
pub mod panels;
pub mod runtime;
pub mod settings;
pub mod theme;
pub mod update;
pub mod view;
pub mod widget;
pub mod worker;

pub use runtime::{Options, run};

/// The unit tests write sessions with the same file as the integration tests and the benches.
#[cfg(test)]
#[path = "../../../tests/support/written.rs"]
pub mod written;
