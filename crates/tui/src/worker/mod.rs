//! The worker, which answers the questions of the panels.
//!
//! ```text
//!  update ─▶ Effect::Ask ─▶ Desk (one slot per kind, the latest wins) ─▶ Reader: its own connection
//!    ▲                └───▶ a thread for an errand                          │ Job::step, some ms each
//!    └──────────────── Msg::Answer ◀── bounded channel ◀────────────────────┘
//! ```
//!
//! A panel asks about the open recording with a [`Job`]. A job works in steps of some milliseconds;
//! the reader steps the most urgent one first, so that a long scan never holds up the rows on the
//! screen, and it follows a live recording between the steps. A new question of a [`Slot`] replaces
//! the job of that slot, which is how things are cancelled. A job that is done is kept: when the
//! recording grows it is asked whether it has more to say.
//!
//! An [`Errand`] has a thread and a connection of its own: a comparison, a replay, an export, and
//! what goes over the whole recording at once, as statistics do. A view asks again when the
//! recording has grown ([`job::LastAsk`]). Every answer says what its panel does with it.
//!
//! [`Reader`] runs without threads too: tests drive it by hand.

pub mod errand;
pub mod job;
mod librarian;
mod reader;
pub mod vitals;

pub use crate::effect::{Answer, Ask};
pub use errand::{Errand, Failure, Means, Place, Which};
pub use job::{Growth, Job, Progress, Slot, Source, Step};
pub use reader::Reader;
pub use vitals::{Opening, Vitals};
