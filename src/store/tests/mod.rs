//! What a recording promises, shown on spools made by hand.

mod following;
mod indexing;
mod listing;
mod opening;
mod recovering;
mod selecting;
mod session;
mod traffic;
