//! What a recording promises, shown on spools made by hand.

mod annotating;
mod draining;
mod following;
mod giving_up;
mod linking;
mod listing;
mod opening;
mod recovering;
mod searching;
mod selecting;
mod telling;
mod traffic;
mod written_session;

use crate::written;
