//! The promises of a recording, shown on spools made by hand.

mod annotating;
#[path = "../../../../tests/support/conversation.rs"]
mod conversation;
#[path = "../../../../tests/support/dice.rs"]
mod dice;
mod draining;
mod folder_listing;
mod following;
mod opening;
mod recovering;
mod searching;
pub mod selecting;
mod telling;
mod written_session;

use crate::written;
