//! A viewer without threads: the state, the reader and the screen.

use super::super::*;
use crate::app::{Focus, Settings, Viewer};
use crate::effect::{Effect, Msg, Now};
use crate::keymap::Key;
use crate::panels::list;
use crate::update::update;
use crate::widget::pager::Text;
use crate::worker::Reader;
use crate::written::{self, Session};
use mcpreel_store::indexer::Indexer;
use mcpreel_store::library::Library;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_trace::item::ItemKey;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const MS: u64 = 1_000_000;

/// Lines of a session, each at its millisecond: `>` to the server, `<` to the client, `!` stderr.
pub const CALLS: &[(u64, &str)] = &[
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
pub struct Hand {
    pub viewer: Viewer,
    reader: Reader,
    session: Session,
    indexer: Indexer,
    _dir: tempfile::TempDir,
}

impl Hand {
    /// A session with these lines on a screen of this size. It is live.
    pub fn open(lines: &[(u64, &str)], size: (u16, u16)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::start(dir.path(), "weather", 0x7f3a);
        let indexer = session.indexer();
        let library = Library::new(dir.path());
        let viewer = Viewer::new(&library, Settings::default(), size, Now::default());
        let mut hand = Self {
            viewer,
            reader: Reader::new(library, Clock::start()),
            session,
            indexer,
            _dir: dir,
        };
        hand.record(lines);
        let path = hand.session.reel.clone();
        let effects = crate::panels::session::open(&mut hand.viewer, &path, None);
        hand.carry_out(effects);
        hand
    }

    pub fn calls() -> Self {
        let mut hand = Self::open(CALLS, (120, 30));
        hand.select(1);
        hand
    }

    pub fn record(&mut self, lines: &[(u64, &str)]) {
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
    pub fn select(&mut self, seq: u64) {
        let (app, session) = self.viewer.parts().unwrap();
        session.focus = Focus::Detail;
        let effects = list::go_to(app, session, ItemKey::of_part(Seq(seq), 0));
        self.carry_out(effects);
        self.tell(Msg::Tick(Now::default()));
    }

    /// Presses these keys, separated by spaces.
    pub fn press(&mut self, keys: &str) {
        for key in keys.split(' ') {
            let key = Key::parse(key).unwrap_or_else(|| panic!("{key} is no key"));
            self.tell(Msg::Key(key));
        }
    }

    pub fn tell(&mut self, msg: Msg) {
        let effects = update(&mut self.viewer, msg);
        self.carry_out(effects);
    }

    fn carry_out(&mut self, effects: Effects) {
        let mut answers = Vec::new();
        for effect in effects {
            if let Effect::Ask(ask) = effect {
                self.reader.take(ask, &mut |answer| answers.push(answer));
            }
        }
        self.settle(answers);
    }

    fn settle(&mut self, mut answers: Vec<crate::worker::Answer>) {
        while self.reader.step(&mut |answer| answers.push(answer)) {}
        for answer in answers {
            self.tell(Msg::Answer(answer));
        }
    }

    pub fn session(&self) -> &crate::app::Session {
        self.viewer.session.as_deref().unwrap()
    }

    pub fn detail(&self) -> &Detail {
        &self.session().detail
    }

    pub fn path(&self) -> String {
        self.detail().path().unwrap_or_default()
    }

    /// What the pane says, without its border.
    pub fn pane(&self) -> String {
        let area = layout::session(&self.viewer.app, self.session()).detail;
        let (columns, rows) = self.viewer.app.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let draw = |frame: &mut ratatui::Frame<'_>| crate::view::draw(&self.viewer, frame);
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
    pub fn overlay(&self) -> String {
        let Some(text) = self.viewer.app.top::<Text>() else {
            panic!("no text lies on top");
        };
        let line = |line: &Vec<(crate::theme::Role, String)>| -> String {
            line.iter().map(|(_, text)| text.as_str()).collect()
        };
        let lines: Vec<_> = text.lines.iter().map(line).collect();
        format!("{}\n{}", text.title, lines.join("\n"))
    }
}
