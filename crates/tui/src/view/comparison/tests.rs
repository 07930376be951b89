use super::*;
use crate::app::comparison::{Counts, Occurrence, Pair, Side};
use crate::app::{Overlay, Settings};
use crate::effect::Now;
use mcpreel_replay::compare::{Change, Half};
use mcpreel_replay::report::{Account, Difference, Outcome, Report};
use mcpreel_store::library::Library;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::Seq;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::path::PathBuf;

fn side(short: &str) -> Side {
    Side {
        path: PathBuf::from("/nowhere"),
        short: short.to_owned(),
        title: "weather-server".to_owned(),
    }
}

fn went(seq: u64, status: Status) -> Occurrence {
    Occurrence {
        request: (Seq(seq), 0),
        status,
        latency_ns: Some(12_000_000),
    }
}

fn pair(sides: [Option<Occurrence>; 2], class: Option<Class>) -> Pair {
    Pair {
        sides,
        call: 0,
        class,
        is_listed: false,
        account: None,
        said: None,
    }
}

fn compared() -> Compared {
    let difference = Difference {
        half: Half::Response,
        path: "result.isError".into(),
        class: Class::Breaking,
        change: Change::Value,
        left: Some("false".into()),
        right: Some("true".into()),
        note: None,
        rule: None,
    };
    let account = Account {
        left: Some(Seq(3)),
        right: Some(Seq(5)),
        method: "tools/call".into(),
        name: Some("search".into()),
        outcome: Outcome::Differs,
        class: Some(Class::Breaking),
        differences: vec![difference],
        more: 0,
    };
    let same = pair([Some(went(1, Status::Ok)), Some(went(1, Status::Ok))], None);
    let mut worse = pair(
        [Some(went(3, Status::Ok)), Some(went(5, Status::ToolError))],
        Some(Class::Breaking),
    );
    worse.account = Some(0);
    let mut refused = pair([Some(went(7, Status::Ok)), None], None);
    refused.said = Some("was refused: x".into());
    let mut compared = Compared {
        sides: [side("7f3a"), side("c04d")],
        report: Report {
            accounts: vec![account],
            ..Report::default()
        },
        calls: vec![("tools/call".into(), Some("search".into()))],
        pairs: vec![same, worse, refused],
        bound: std::sync::Arc::default(),
        said: vec![(Some(Class::Changed), "the server ended otherwise".into())],
        left_out: 2,
        not_made: None,
        counts: Counts::default(),
        rows: Vec::new(),
        changes: Vec::new(),
    };
    compared.fold(false);
    compared
}

fn screen_of(size: (u16, u16), at: usize) -> Vec<String> {
    let mut comparison = Comparison::new(1, None);
    comparison.stage = Stage::Compared(Box::new(compared()));
    comparison.at = at;
    let library = Library::new("/nowhere");
    let mut app = App::new(&library, Settings::default(), size, Now::default());
    app.overlays.push(Overlay::Comparison(Box::new(comparison)));
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal
        .draw(|frame| crate::view::draw(&app, frame))
        .unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..size.0).map(move |x| buffer[(x, y)].symbol()).collect();
    (0..size.1).map(row).collect()
}

#[test]
fn each_call_says_how_it_went_on_both_sides_and_what_was_not_tried_says_why() {
    let wide = screen_of((120, 30), 4).join("\n");
    let has = |parts: &[&str]| {
        let line = wide
            .lines()
            .find(|line| parts.iter().all(|part| line.contains(part)));
        assert!(line.is_some(), "{parts:?} in\n{wide}");
    };
    has(&[
        "breaking",
        "#3 tools/call search",
        "ok 12 ms",
        "#5 tools/call",
        "tool-error",
    ]);
    has(&["#7 tools/call search", "was refused: x"]);
    has(&["1 the same"]);
    has(&["the server ended otherwise"]);
    has(&[
        "✗ 1 breaking",
        "~ 1 changed",
        "1 the same",
        "1 not tried",
        "2 not reached",
    ]);
    has(&["result.isError", "was false", "is true"]);
    let narrow = screen_of((80, 24), 4).join("\n");
    assert!(narrow.contains("#3 → #5 tools/call search"), "{narrow}");
    assert!(narrow.contains("ok → tool-error"), "{narrow}");
}

#[test]
fn it_fits_whatever_there_is_room_for() {
    for size in [(120, 30), (80, 24), (60, 15), (40, 8), (20, 3)] {
        for at in 0..6 {
            let screen = screen_of(size, at);
            assert_eq!(screen.len(), usize::from(size.1));
        }
        let inner = Rect::new(1, 1, size.0 - 2, size.1 - 2);
        let places = Places::of(inner);
        let used = places.summary.height + places.body.height + places.below.height;
        assert_eq!(used, inner.height, "{size:?}");
        assert!(rows(size) >= 1);
    }
}

/// Once nothing moved while both recordings were read.
#[test]
fn how_far_it_is_is_said_while_it_reads_and_while_it_compares() {
    assert_eq!(how_far(Far::Asked), "comparing");
    assert_eq!(how_far(Far::Read(1500)), "1 500 exchanges read");
    assert_eq!(how_far(Far::Compared(3, 40)), "3 of 40 exchanges compared");
}
