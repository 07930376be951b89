//! The viewer: what it shows, and what it does with keys.
//!
//! * [`asking`]: comparisons, searches, jumps, marks, notes, and what was true at a moment;
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
//! * [`fuzz`]: any traffic, any size, any keys;
//! * [`on_a_terminal`]: the real program, beside real sessions.
//!
//! They stand on [`fixture`]: recordings whose every byte and moment is known ([`viewer_story`] is what
//! they tell); [`by_hand`]: the viewer without threads and terminal; [`scenes`]: what is looked at;
//! [`notation`] and [`svg`]: a screen as text and as a picture.

#[path = "../support/mod.rs"]
mod support;

mod asking;
mod by_hand;
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
mod viewer_replay;
mod viewer_story;
mod viewer_why;
mod views;
mod zone;

use mcpreel_store::reader::Recording;
use mcpreel_store::schema::State;
use mcpreel_trace::exchange::Status;
use std::collections::BTreeSet;

/// The statuses of all exchanges of a recording.
fn statuses(recording: &Recording) -> BTreeSet<&'static str> {
    let mut statuses = BTreeSet::new();
    let each = recording.each_exchange(|exchange| {
        statuses.insert(exchange.status.as_str());
    });
    each.expect("it can be read");
    statuses
}

#[test]
fn the_fixtures_stand_as_they_say() {
    let expected = [
        (fixture::live(), State::Live, Status::Open),
        (fixture::ended(), State::Complete, Status::Lost),
        (fixture::killed(), State::Recovered, Status::Unanswered),
    ];
    for (fixture, state, open_ends) in expected {
        let recording = Recording::open(&fixture.path).expect("it can be read");
        let summary = recording.summary().expect("it can be read");
        assert_eq!(summary.state, state);
        let statuses = statuses(&recording);
        for status in [
            "ok",
            "tool-error",
            "error",
            "late",
            "cancelled",
            open_ends.as_str(),
        ] {
            assert!(
                statuses.contains(status),
                "{state:?}: {status} in {statuses:?}"
            );
        }
        assert!(summary.findings > 0, "{state:?}");
    }
}

#[test]
fn the_fixtures_are_the_same_every_time() {
    for make in [fixture::live, fixture::ended, fixture::killed, fixture::gap] {
        let (one, other) = (make(), make());
        for read in [
            support::stored_rows::Rows::frames,
            support::stored_rows::Rows::derived,
        ] {
            read(&one.path).assert_same(&read(&other.path), "a fixture");
        }
    }
}

#[test]
fn a_gap_and_an_empty_recording_say_so() {
    let summary = |fixture: &fixture::Recording| {
        let recording = Recording::open(&fixture.path).expect("it can be read");
        recording.summary().expect("it can be read")
    };
    assert_eq!(summary(&fixture::gap()).gap_bytes, 12_000);
    assert_eq!(summary(&fixture::empty()).messages, 0);
}

#[test]
fn a_conversation_is_mixed_as_it_says_and_the_same_for_the_same_seed() {
    let lines = |seed| support::conversation::Conversation::tame(seed).take(20_000);
    let bytes = |seed| lines(seed).map(|line| line.bytes).collect::<Vec<_>>();
    assert_eq!(bytes(3), bytes(3));
    assert_ne!(bytes(3), bytes(4));
    let count = |part: &[u8]| {
        let has = |line: &Vec<u8>| memchr::memmem::find(line, part).is_some();
        bytes(3).iter().filter(|line| has(line)).count()
    };
    let calls = count(br#""tools/call""#);
    let (tool_errors, errors) = (count(br#""isError":true"#), count(br#""error":{"#));
    assert!((4_000..8_000).contains(&calls), "{calls}");
    assert!(
        (calls / 30..calls / 12).contains(&tool_errors),
        "{tool_errors} of {calls}"
    );
    assert!(
        (calls / 200..calls / 40).contains(&errors),
        "{errors} of {calls}"
    );
}
