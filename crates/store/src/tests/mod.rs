//! What a recording promises, shown on spools made by hand.

mod annotating;
mod following;
mod giving_up;
mod linking;
mod listing;
mod opening;
mod recovering;
mod searching;
mod selecting;
mod telling;
mod tests_indexing;
mod tests_session;
mod traffic;

use crate::written;
