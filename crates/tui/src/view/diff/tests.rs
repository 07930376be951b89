use super::*;
use crate::app::diff::Part;
use crate::app::{Overlay, Settings};
use crate::effect::Now;
use mcpreel_replay::compare::{Side, compare};
use mcpreel_store::library::Library;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn part(half: Half, left: &str, right: &str) -> Part {
    let side = |text: &'static [u8]| Side {
        text: Some(text),
        wall_ns: None,
    };
    let leak = |text: &str| -> &'static [u8] { text.to_owned().leak().as_bytes() };
    Part {
        comparison: compare(half, side(leak(left)), side(leak(right))),
        outline: false,
        redacted: 0,
        is_bound: false,
    }
}

fn compared() -> Compared {
    let request = r#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#;
    let left = "{\"id\":1,\"result\":{\"tools\":[{\"name\":\"\\u001b[2J\u{202e}\u{9b}\"},{\"name\":\"b\",\"x\":1}],\"l\":1,\"m\":2}}";
    let right = r#"{"id":1,"result":{"tools":[{"name":"b","x":"日本"}],"l":1,"m":2,"n":3}}"#;
    Compared::new(
        Exchange::begun(
            mcpreel_wire::message::Direction::ClientToServer,
            mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
            "tools/call",
        ),
        Exchange::begun(
            mcpreel_wire::message::Direction::ClientToServer,
            mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
            "tools/call",
        ),
        part(Half::Request, request, request),
        part(Half::Response, left, right),
    )
}

/// The rows of the screen as text.
fn screen(size: (u16, u16), at: usize) -> Vec<String> {
    screen_of(compared(), size, at)
}

fn screen_of(compared: Compared, size: (u16, u16), at: usize) -> Vec<String> {
    let mut diff = Diff::new(1);
    diff.stage = Stage::Compared(Box::new(compared));
    diff.at = at;
    let library = Library::new("/nowhere");
    let mut app = App::new(&library, Settings::default(), size, Now::default());
    app.overlays.push(Overlay::Diff(Box::new(diff)));
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    let area = Rect::new(0, 0, size.0, size.1);
    let Some(Overlay::Diff(diff)) = app.overlays.last() else {
        panic!("it was pushed");
    };
    terminal
        .draw(|frame| draw(&app, diff, area, frame))
        .unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..size.0).map(move |x| buffer[(x, y)].symbol()).collect();
    (0..size.1).map(row).collect()
}

#[test]
fn wide_screens_show_the_sides_beside_each_other_and_narrow_ones_below() {
    let wide = screen((120, 24), 0).join("\n");
    assert!(
        wide.lines().any(|line| line.contains("breaking")
            && line.contains("x: 1")
            && line.contains("日 本")),
        "{wide}"
    );
    let narrow = screen((80, 24), 0).join("\n");
    assert!(
        narrow
            .lines()
            .any(|line| line.contains("- ") && line.contains("x: 1")),
        "{narrow}"
    );
    assert!(
        narrow
            .lines()
            .any(|line| line.contains("+ ") && line.contains("日 本")),
        "{narrow}"
    );
    for text in [wide, narrow] {
        assert!(
            text.contains("2 breaking") && text.contains("1 added"),
            "{text}"
        );
        assert!(text.contains("2 unchanged"), "{text}");
    }
}

#[test]
fn what_is_under_the_cursor_is_named_and_said_in_words() {
    let last = compared().rows.len() - 1;
    let text = screen((120, 24), last).join("\n");
    assert!(
        text.contains("result.n  + added: was not there before"),
        "{text}"
    );
}

#[test]
fn nothing_from_the_wire_reaches_the_terminal_as_it_was() {
    for size in [(120, 24), (80, 24), (40, 10), (20, 3), (5, 2)] {
        for line in screen(size, 4) {
            let hostile = |letter: char| letter.is_control() || letter == '\u{202e}';
            assert!(!line.contains(hostile), "{line:?}");
        }
        if size.1 == 24 {
            assert!(screen(size, 4).join("").contains("\\u{202e}"));
        }
    }
}

#[test]
fn the_cursor_is_always_on_the_screen() {
    for size in [(120, 24), (80, 24), (60, 15), (40, 10), (20, 3)] {
        assert!(rows(size) >= 1);
        let areas = Places::of(Rect::new(1, 1, size.0 - 2, size.1 - 2));
        let lines = if areas.beside { 1 } else { 2 };
        assert!(
            rows(size) * lines <= usize::from(areas.body.height).max(lines),
            "{size:?}"
        );
    }
}

#[test]
fn what_differs_below_the_screen_is_told_of_and_no_count_is_cut_unseen() {
    let cut = screen((60, 10), 0).join("\n");
    assert!(
        cut.contains("▼") && cut.contains("✗ 2 breaking · "),
        "{cut}"
    );
    let whole = screen((120, 40), 0).join("\n");
    assert!(!whole.contains("▼"), "{whole}");
    let narrow = screen((30, 10), 0);
    let summary = |line: &&String| line.contains("2 breaking");
    let summary = narrow.iter().find(summary).unwrap();
    assert!(summary.ends_with("…│"), "{summary}");
}

#[test]
fn a_value_that_is_longer_than_its_place_says_how_much_is_left_out() {
    let left = format!(r#"{{"result":{{"x":"{}"}}}}"#, "a".repeat(5000));
    let right = format!(
        r#"{{"result":{{"x":"{}日{}"}}}}"#,
        "b".repeat(900),
        "c".repeat(90)
    );
    let compared = || {
        Compared::new(
            Exchange::begun(
                mcpreel_wire::message::Direction::ClientToServer,
                mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
                "tools/call",
            ),
            Exchange::begun(
                mcpreel_wire::message::Direction::ClientToServer,
                mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
                "tools/call",
            ),
            part(Half::Request, "{}", "{}"),
            part(Half::Response, &left, &right),
        )
    };
    let at = compared().changes[0];
    for size in [(120, 24), (80, 24)] {
        let told = screen_of(compared(), size, at).join("\n");
        assert_eq!(told.matches(" more line").count(), 2, "{told}");
        assert_eq!(told.matches(" more lines and 4.0 kB").count(), 1, "{told}");
    }
    let tall = screen_of(compared(), (400, 60), at).join("\n");
    assert!(!tall.contains("more line"), "{tall}");
}
