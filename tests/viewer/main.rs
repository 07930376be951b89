//! The viewer: what it shows, and what it does with keys.
//!
//! * [`asking`]: comparisons, searches, jumps, marks, notes, and what was true at a moment;
//! * [`detail`]: what is shown of a row, its tabs, and the ways from it;
//! * [`mouse`]: clicks and the wheel;
//! * [`snapshots`]: every panel, text and style; [`pictures`]: those of the README;
//! * [`selected`]: what is acted on is what is highlighted, and what is offered is done;
//! * [`sequences`]: keys and the state they lead to;
//! * [`viewer_why`]: the line that says why, and the whole account;
//! * [`viewer_ending`]: a session that is watched comes to its end;
//! * [`viewer_export`]: exports, and reports for the clipboard;
//! * [`viewer_replay`]: replays, and recordings beside each other;
//! * [`viewer_findings`]: what is wrong, where it is wrong;
//! * [`viewer_library`]: the recordings screen; [`views`]: timeline, statistics, findings;
//! * [`viewer_network`]: what HTTP carried, and how;
//! * [`fuzz`]: any traffic, any size, any keys;
//! * [`on_a_terminal`]: the real program, beside real sessions.
//!
//! They stand on [`fixture`]: recordings whose every byte and moment is known ([`viewer_story`] is what
//! they tell); [`by_hand`]: the viewer without threads and terminal; [`scenes`]: what is looked at;
//! [`notation`] and [`svg`]: a screen as text and as a picture.

#[path = "../support/mod.rs"]
mod support;
#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "other tests use the rest, and stop where they cannot go on"
)]
#[path = "../support/told.rs"]
mod told;
#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "other tests use the rest, and stop where they cannot go on"
)]
#[path = "../support/wire.rs"]
mod wire;

mod asking;
mod by_hand;
mod detail;
mod first_look;
mod fixture;
mod fuzz;
mod mouse;
mod notation;
mod on_a_terminal;
mod pictures;
mod scenes;
mod selected;
mod sequences;
mod snapshots;
mod svg;
mod viewer_ending;
mod viewer_export;
mod viewer_findings;
mod viewer_library;
mod viewer_network;
mod viewer_replay;
mod viewer_story;
mod viewer_why;
mod views;
mod zone;

use support::written;
