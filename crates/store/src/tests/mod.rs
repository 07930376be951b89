//! What a recording promises, shown on spools made by hand.

mod annotating;
mod following;
mod giving_up;
mod indexing;
mod linking;
mod listing;
mod opening;
mod recovering;
mod searching;
mod selecting;
mod session;
mod telling;
mod traffic;

use crate::written;
