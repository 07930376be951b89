//! The detail, driven by hand: the state, the reader and the screen without threads.

use super::*;
use crate::store::indexer::Indexer;
use crate::store::library::Library;
use crate::trace::clock::Clock;
use crate::trace::frame::{Seq, StreamId};
use crate::tui::app::detail::{Representation, Sides};
use crate::tui::app::{Focus, Settings};
use crate::tui::effect::{Effect, Msg, Now};
use crate::tui::keymap::Key;
use crate::tui::update::{list, session, update};
use crate::tui::worker::Reader;
use crate::written::{self, Session};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const MS: u64 = 1_000_000;

/// Lines of a session, each at its millisecond: `>` to the server, `<` to the client, `!` stderr.
const CALLS: &[(u64, &str)] = &[
    (
        100,
        r#">{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_docs","arguments":{"q":"rust async","tags":["a","b"]},"_meta":{"progressToken":7}}}"#,
    ),
    (
        112,
        r#"<{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":40,"total":100,"message":"indexing"}}"#,
    ),
    (120, "!WARN cache miss"),
    (
        150,
        r#"<{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"confirm?"}}"#,
    ),
    (
        450,
        r#">{"jsonrpc":"2.0","id":"e","result":{"action":"accept"}}"#,
    ),
    (
        942,
        r#"<{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"first line\n\tsecond \u001b[31m"},{"type":"text","text":"{\"quota\":[1,2]}"},{"type":"image","data":"iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzkAAAA","mimeType":"image/png"}],"isError":true}}"#,
    ),
    (950, "<[INFO] not a message"),
    (960, r#"<{"jsonrpc":"2.0","id":99,"result":{},"result":7}"#),
    (970, r#">{"jsonrpc":"2.0","id":2,"method":"ping"}"#),
];

/// A viewer on one recording, which may grow.
struct Hand {
    app: App,
    reader: Reader,
    session: Session,
    indexer: Indexer,
    _dir: tempfile::TempDir,
}

impl Hand {
    /// A session with these lines on a screen of this size. It is live.
    fn open(lines: &[(u64, &str)], size: (u16, u16)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::start(dir.path(), "weather", 0x7f3a);
        let indexer = session.indexer();
        let library = Library::new(dir.path());
        let app = App::new(&library, Settings::default(), size, Now::default());
        let mut hand = Self {
            app,
            reader: Reader::new(library, Clock::start()),
            session,
            indexer,
            _dir: dir,
        };
        hand.record(lines);
        let path = hand.session.reel.clone();
        let effects = session::open(&mut hand.app, &path, None);
        hand.carry_out(effects);
        hand
    }

    fn calls() -> Self {
        let mut hand = Self::open(CALLS, (120, 30));
        hand.select(1);
        hand
    }

    /// Records more lines.
    fn record(&mut self, lines: &[(u64, &str)]) {
        for (t, line) in lines {
            let (stream, line) = match line.split_at(1) {
                (">", line) => (StreamId::C2S, line),
                ("<", line) => (StreamId::S2C, line),
                (_, line) => (StreamId::STDERR, line),
            };
            self.session.at(t * MS);
            for chunk in format!("{line}\n").as_bytes().chunks(60_000) {
                self.session.chunk(stream, chunk);
            }
        }
        written::drain(&mut self.indexer, &written::bytes(1 << 20));
        self.grow();
    }

    /// The reader looks whether the recording has grown.
    fn grow(&mut self) {
        let mut answers = Vec::new();
        self.reader.follow(&mut |answer| answers.push(answer));
        self.settle(answers);
    }

    /// Selects the row at the frame `seq`; the detail has the keys.
    fn select(&mut self, seq: u64) {
        let session = self.app.session.as_deref_mut().unwrap();
        session.focus = Focus::Detail;
        let effects = list::go_to(&mut self.app, ItemKey::of_part(Seq(seq), 0));
        self.carry_out(effects);
        self.tell(Msg::Tick(Now::default()));
    }

    /// Presses these keys, separated by spaces.
    fn press(&mut self, keys: &str) {
        for key in keys.split(' ') {
            let key = Key::parse(key).unwrap_or_else(|| panic!("{key} is no key"));
            self.tell(Msg::Key(key));
        }
    }

    fn tell(&mut self, msg: Msg) {
        let effects = update(&mut self.app, msg);
        self.carry_out(effects);
    }

    fn carry_out(&mut self, effects: Effects) {
        let mut answers = Vec::new();
        for effect in effects {
            if let Effect::Ask(ask) = effect {
                self.reader.take(*ask, &mut |answer| answers.push(answer));
            }
        }
        self.settle(answers);
    }

    fn settle(&mut self, mut answers: Vec<crate::tui::worker::Answer>) {
        while self.reader.step(&mut |answer| answers.push(answer)) {}
        for answer in answers {
            self.tell(Msg::Answer(Box::new(answer)));
        }
    }

    fn session(&self) -> &crate::tui::app::Session {
        self.app.session.as_deref().unwrap()
    }

    fn detail(&self) -> &Detail {
        &self.session().detail
    }

    fn path(&self) -> String {
        self.detail().path().unwrap_or_default()
    }

    /// What the pane says, without its border.
    fn pane(&self) -> String {
        let area = layout::session(&self.app, self.session()).detail;
        let (columns, rows) = self.app.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let draw = |frame: &mut ratatui::Frame<'_>| crate::tui::view::draw(&self.app, frame);
        terminal.draw(draw).unwrap();
        let buffer = terminal.backend().buffer();
        let row = |y| {
            let cells = (area.x..area.right()).map(|x| buffer[(x, y)].symbol());
            let text: String = cells.collect();
            let text = text.trim_matches('│').trim_end();
            assert!(
                !text.contains(|letter: char| letter.is_control()),
                "{text:?}"
            );
            text.to_owned()
        };
        let rows = (area.y..area.bottom()).map(row);
        rows.filter(|row| !row.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// What the text that lies on top says.
    fn overlay(&self) -> String {
        let Some(Overlay::Text(text)) = self.app.overlays.last() else {
            panic!("no text lies on top");
        };
        let line = |line: &Vec<(crate::tui::theme::Role, String)>| -> String {
            line.iter().map(|(_, text)| text.as_str()).collect()
        };
        let lines: Vec<_> = text.lines.iter().map(line).collect();
        format!("{}\n{}", text.title, lines.join("\n"))
    }
}

#[test]
fn a_call_is_shown_with_its_answer() {
    let hand = Hand::calls();
    insta::assert_snapshot!(hand.pane());
}

#[test]
fn keys_fold_and_walk_the_tree_and_the_path_follows() {
    let mut hand = Hand::calls();
    hand.press("j j j");
    assert_eq!(hand.path(), "params.arguments");
    hand.press("l");
    assert_eq!(hand.path(), "params.arguments.q");
    hand.press("h h");
    assert!(
        hand.pane()
            .contains(r#"▸ arguments (2) {q:"rust async", tags"#)
    );
    hand.press("h");
    assert_eq!(hand.path(), "params");
    hand.press("j j Space j j");
    assert_eq!(hand.path(), "params.arguments.tags");
    hand.press("k k k k h h");
    assert_eq!(
        hand.path(),
        "",
        "what is in the request itself leads to its heading"
    );
    hand.press("Space");
    assert!(hand.pane().contains("▸ request"));
    hand.press("l j l j");
    assert_eq!(hand.path(), "params.name");
    hand.press("o a");
    assert_eq!(hand.path(), "params.name");
    hand.press("o 1");
    assert_eq!(hand.path(), "params", "the cursor goes to what hides it");
}

#[test]
fn tab_walks_the_tabs_and_then_leaves() {
    let mut hand = Hand::calls();
    let mut tabs = Vec::new();
    for _ in 0..4 {
        tabs.push((hand.session().focus, hand.detail().tab));
        hand.press("Tab");
    }
    let detail = Focus::Detail;
    let walk = [
        (detail, Tab::Body),
        (detail, Tab::Story),
        (detail, Tab::Findings),
        (Focus::Main, Tab::Body),
    ];
    assert_eq!(tabs, walk);
    hand.press("BackTab");
    assert_eq!(
        hand.session().focus,
        Focus::Main,
        "backwards it leaves at the first"
    );
}

#[test]
fn another_way_of_writing_keeps_the_place() {
    let mut hand = Hand::calls();
    hand.press("G");
    assert_eq!(hand.path(), "result.isError");
    hand.press("r");
    assert_eq!(hand.detail().representation, Representation::Raw);
    assert!(hand.pane().contains(" raw "), "{}", hand.pane());
    let under_cursor = |hand: &Hand| {
        let shown = hand.detail().shown.as_deref().unwrap();
        let body = hand.detail().body(hand.detail().size.0).unwrap();
        format!("{:?}", body.line(shown.at.cursor).unwrap())
    };
    assert!(
        under_cursor(&hand).contains("isError"),
        "{}",
        under_cursor(&hand)
    );
    hand.press("r");
    assert!(under_cursor(&hand).contains("Hex"));
    hand.press("r");
    assert!(hand.path().starts_with("result."), "{}", hand.path());
    hand.press("b");
    assert_eq!(hand.detail().sides, Sides::Request);
    let pane = hand.pane();
    assert!(
        pane.contains("▾ request") && !pane.contains("▾ response"),
        "{pane}"
    );
    hand.press("b");
    assert!(!hand.pane().contains("▾ request"));
}

#[test]
fn a_row_is_found_again_as_it_was_left() {
    let mut hand = Hand::calls();
    hand.press("j j j Space j");
    let (pane, path) = (hand.pane(), hand.path());
    hand.select(9);
    assert!(hand.pane().contains("#9 ping"));
    hand.select(1);
    assert_eq!((hand.pane(), hand.path()), (pane, path));
}

#[test]
fn an_answer_that_comes_later_is_added_and_moves_nothing() {
    let mut hand = Hand::open(&CALLS[..3], (120, 30));
    hand.select(1);
    assert!(
        hand.pane().contains("no response yet  … open"),
        "{}",
        hand.pane()
    );
    hand.press("j j j Space");
    hand.record(&CALLS[3..6]);
    let pane = hand.pane();
    assert!(pane.contains("▾ response  ✗ tool-error"), "{pane}");
    assert!(pane.contains("▸ arguments"), "{pane}");
    assert_eq!(hand.path(), "params.arguments");
    hand.press("Tab");
    assert!(
        hand.pane().contains("tool error: first line"),
        "{}",
        hand.pane()
    );
}

#[test]
fn strings_open_in_full() {
    let mut hand = Hand::calls();
    hand.press("b b");
    let mut open = |path: &str| {
        hand.press("g");
        while hand.path() != path {
            hand.press("j");
        }
        hand.press("Enter");
        let text = hand.overlay();
        hand.press("Esc");
        text
    };
    assert_eq!(
        open("result.content[0].text"),
        "result.content[0].text · text · 24 B\nfirst line\n    second \\x1b[31m"
    );
    let json = open("result.content[1].text");
    assert!(
        json.contains("JSON") && json.contains("▾ quota (2)"),
        "{json}"
    );
    let image = open("result.content[2].data");
    assert!(image.contains("image/png, 640 × 480 pixels"), "{image}");
}

#[test]
fn a_story_tells_what_happened_meanwhile_and_leads_there() {
    let mut hand = Hand::calls();
    hand.press("Tab");
    insta::assert_snapshot!(hand.pane());
    hand.press("j j Enter");
    assert_eq!(
        hand.session().list.selected(),
        Some(ItemKey::of_part(Seq(3), 0))
    );
    assert_eq!(hand.session().lens, Lens::Exchanges);
    hand.select(1);
    hand.press("k Enter");
    assert_eq!(
        hand.session().list.selected(),
        Some(ItemKey::of_part(Seq(2), 0))
    );
    assert_eq!(
        hand.session().lens,
        Lens::Wire,
        "progress has no row of its own elsewhere"
    );
}

#[test]
fn findings_are_explained_and_lead_to_their_place() {
    let mut hand = Hand::calls();
    hand.select(8);
    let pane = hand.pane();
    assert!(
        pane.contains("Findings 3") && pane.contains("✗ error  response-unknown-id"),
        "{pane}"
    );
    hand.press("j j Enter");
    assert_eq!(hand.detail().tab, Tab::Findings);
    insta::assert_snapshot!(hand.pane());
    hand.press("Enter");
    assert_eq!(hand.detail().tab, Tab::Body);
    assert_eq!(
        hand.detail().part().unwrap().text.as_ref().unwrap().key.seq,
        Seq(8)
    );
}

#[test]
fn what_is_no_message_is_shown_with_the_place_where_reading_stopped() {
    let mut hand = Hand::open(
        &[
            (1, "<[INFO] up"),
            (2, r#"<{"jsonrpc":"2.0","id":3,"res"#),
            (3, "!warn \u{202e}x"),
        ],
        (120, 30),
    );
    hand.select(1);
    assert!(
        hand.pane().contains("no JSON: expected a value at byte 1"),
        "{}",
        hand.pane()
    );
    hand.select(2);
    let pane = hand.pane();
    assert!(pane.contains("id      3"), "{pane}");
    assert!(pane.contains("no JSON from here on: unescaped"), "{pane}");
    hand.select(3);
    assert!(hand.pane().contains("warn \\u{202e}x"), "{}", hand.pane());
}

#[test]
fn of_a_long_message_the_beginning_is_shown_and_more_on_demand() {
    let text = "x".repeat(1000);
    let items: Vec<_> = (0..2_000)
        .map(|_| format!(r#"{{"text":"{text}"}}"#))
        .collect();
    let line = format!(
        r#"<{{"jsonrpc":"2.0","id":1,"result":[{}]}}"#,
        items.join(",")
    );
    let call = r#">{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut hand = Hand::open(&[(1, call), (2, &line)], (120, 30));
    hand.select(1);
    hand.press("G");
    assert!(
        hand.pane()
            .contains("the first 1.0 MB of 2.0 MB · L loads more"),
        "{}",
        hand.pane()
    );
    hand.press("Enter");
    assert!(!hand.pane().contains("loads more"), "{}", hand.pane());
    hand.press("G k");
    assert_eq!(hand.path(), "result[1998]");
}

#[test]
fn what_is_selected_is_read_also_while_the_pane_is_not_on_the_screen() {
    let mut hand = Hand::open(CALLS, (60, 20));
    hand.tell(Msg::Tick(Now::default()));
    let asked = hand.detail().asked.map(|asked| asked.key);
    assert_eq!(asked, hand.session().list.selected());
    assert!(asked.is_some());
    hand.select(1);
    assert!(hand.pane().contains("▾ request"), "{}", hand.pane());
}

#[test]
fn the_mouse_selects_folds_and_scrolls() {
    let mut hand = Hand::calls();
    let area = layout::session(&hand.app, hand.session()).detail;
    let (x, y) = (area.x + 1, area.y + 1);
    click(&mut hand.app, (x + 20, y + 2), false);
    assert_eq!(hand.path(), "params.name");
    click(&mut hand.app, (x + 4, y + 3), false);
    assert!(hand.pane().contains("▸ arguments"), "{}", hand.pane());
    click(&mut hand.app, (area.right() - 5, area.y), false);
    assert_eq!(hand.detail().tab, Tab::Findings);
    hand.press("BackTab BackTab");
    hand.app.size.1 = 18;
    hand.tell(Msg::Resize(120, 18));
    let cursor = hand.path();
    wheel(&mut hand.app, 3);
    assert_eq!(hand.path(), cursor, "the cursor stays");
    assert!(!hand.pane().contains("▾ request"), "{}", hand.pane());
}

#[test]
fn what_is_searched_for_is_marked_unfolded_and_gone_to() {
    let mut hand = Hand::calls();
    hand.press("j j j Space / q u o t a Enter");
    assert_eq!(hand.path(), "result.content[1].text");
    let marked = |hand: &Hand| {
        let shown = hand.detail().shown.as_deref().unwrap();
        let hits = shown.parts.iter().map(|part| part.hits.len());
        hits.collect::<Vec<_>>()
    };
    assert_eq!(marked(&hand), [0, 1]);
    hand.press("k");
    hand.record(&[(990, "!something else")]);
    assert_eq!(
        hand.path(),
        "result.content[1].type",
        "only a new search moves the cursor"
    );
    hand.press("g / R U S T Enter");
    assert_eq!(marked(&hand), [0, 0], "capitals are looked for as capitals");
    hand.press("/ r u s t Enter");
    assert_eq!(hand.path(), "params.arguments.q", "what was folded is open");
    hand.press("r");
    assert_eq!(marked(&hand), [1, 0]);
}

#[test]
fn hits_that_are_too_many_to_be_marked_are_told_of() {
    let answer = format!(
        r#"<{{"jsonrpc":"2.0","id":1,"result":{{"t":"{}"}}}}"#,
        "needle ".repeat(1001)
    );
    let lines = [
        (100, r#">{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
        (200, answer.as_str()),
    ];
    let mut hand = Hand::open(&lines, (140, 30));
    hand.press("/ n e e d l e Enter");
    let pane = hand.pane();
    assert_eq!(
        pane.matches("the first 1 000 hits are marked").count(),
        1,
        "{pane}"
    );
    hand.press("Esc");
    assert!(!hand.pane().contains("hits are marked"), "{}", hand.pane());
}
