//! The panels: one file for each, with its state, keys, jobs and drawing together.
//!
//! A panel is a struct with its state, and functions:
//!
//! * `perform(&mut App, &mut Session, Action) -> Option<Effects>`: does what an action means here;
//!   `None` leaves it to the next one in the chain of [`crate::update`];
//! * `click` and `wheel`: the mouse, told by the areas that drawing uses;
//! * `wanted(&mut App, &mut Session) -> Option<Effect>`: asks for what the screen lacks;
//! * `draw(&App, &Session, …)`: draws the state, and asks nobody.
//!
//! Panels that need no recording, or that open one, are handed the app or the whole viewer.
//!
//! A panel asks with `app.questions.ask(Slot::X, job, found)`, or where the answer may take long with
//! `app.questions.read(Slot::X, session, read, found)`; `found` is done with what was found. Answers
//! to older questions of the slot are dropped.
//!
//! The state of a panel of a recording stands beside its job, in a file that does not know the app;
//! the app is made of these. What lies on top is an [`Overlay`](crate::app::Overlay), whose type
//! only its panel knows.

pub mod compare;
pub mod copy;
pub mod detail;
pub mod export;
pub mod filter;
pub mod findings;
pub mod footer;
pub mod header;
pub mod help;
pub mod library;
pub mod library_draw;
pub mod list;
pub mod menu;
pub mod mouse;
pub mod notes;
pub mod palette;
pub mod prompt;
pub mod replay;
pub mod running;
pub mod search;
pub mod selection;
pub mod server;
pub mod session;
pub mod shelf;
pub mod state;
pub mod stats;
pub mod timeline;
pub mod why;
