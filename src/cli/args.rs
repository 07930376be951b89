//! The arguments of replay, mock, minimise and diff.

mod args_replay;
mod compare;
mod minimise;
mod mock;

pub use args_replay::{Asked, Bind, Driving, Edit, Order as ReplayOrder, Part, Replay, bind};
pub use compare::{Diff, ReportFormat, Strictness};
pub use minimise::Minimise;
pub use mock::{Mock, OnMiss, Said};
