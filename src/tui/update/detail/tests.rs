//! The detail, driven by hand: the state, the reader and the screen without threads.

use super::*;
use crate::store::library::Library;
use crate::trace::clock::Clock;
use crate::trace::frame::Seq;
use crate::tui::app::{Focus, Settings};
use crate::tui::effect::{Effect, Msg, Now};
use crate::tui::keymap::Key;
use crate::tui::update::{list, session, update};
use crate::tui::worker::Reader;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::path::Path;

/// A viewer on one recording.
pub(crate) struct Hand {
    pub(crate) app: App,
    reader: Reader,
}

impl Hand {
    /// The sample recording `name` on a screen of this size, nothing selected.
    pub(crate) fn open(name: &str, size: (u16, u16)) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("recordings");
        Self::open_path(&path.join(name), size)
    }

    pub(crate) fn open_path(path: &Path, size: (u16, u16)) -> Self {
        let clock = Clock::start();
        let folder = || Library::new("/nonexistent");
        let app = App::new(&folder(), Settings::default(), size, Now::default());
        let reader = Reader::new(folder(), clock);
        let mut hand = Self { app, reader };
        let effects = session::open(&mut hand.app, path, None);
        hand.carry_out(effects);
        hand
    }

    /// Selects the row at the frame `seq`; the detail has the keys.
    pub(crate) fn select(&mut self, seq: u64) {
        let session = self.app.session.as_deref_mut().unwrap();
        session.focus = Focus::Detail;
        let effects = list::go_to(&mut self.app, ItemKey::of_part(Seq(seq), 0));
        self.carry_out(effects);
        self.tell(Msg::Tick(Now::default()));
    }

    /// Presses these keys, separated by spaces.
    pub(crate) fn press(&mut self, keys: &str) {
        for key in keys.split(' ') {
            let key = Key::parse(key).unwrap_or_else(|| panic!("{key} is no key"));
            self.tell(Msg::Key(key));
        }
    }

    pub(crate) fn tell(&mut self, msg: Msg) {
        let effects = update(&mut self.app, msg);
        self.carry_out(effects);
    }

    pub(crate) fn detail(&self) -> &Detail {
        &self.app.session.as_deref().unwrap().detail
    }

    fn shown(&self) -> &Shown {
        self.detail().shown.as_deref().unwrap()
    }

    fn path(&self) -> String {
        self.detail().path().unwrap_or_default()
    }

    fn carry_out(&mut self, effects: Effects) {
        let mut answers = Vec::new();
        for effect in effects {
            if let Effect::Ask(ask) = effect {
                self.reader.take(*ask, &mut |answer| answers.push(answer));
            }
        }
        while self.reader.step(&mut |answer| answers.push(answer)) {}
        for answer in answers {
            self.tell(Msg::Answer(Box::new(answer)));
        }
    }

    /// What the screen says.
    pub(crate) fn screen(&self) -> String {
        let (columns, rows) = self.app.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let draw = |frame: &mut ratatui::Frame<'_>| crate::tui::view::draw(&self.app, frame);
        terminal.draw(draw).unwrap();
        let buffer = terminal.backend().buffer();
        let rows = buffer.content().chunks(usize::from(columns));
        let row = |cells: &[ratatui::buffer::Cell]| {
            let text: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
            text.trim_end().to_owned()
        };
        rows.map(row).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn look() {
    for name in ["/tmp/e-rec/2026-11-20T19-32-56_weather-server_171b074e.reel"] {
        let mut hand = Hand::open(name, (160, 30));
        for seq in 1..60 {
            hand.select(seq);
            hand.app.session.as_deref_mut().unwrap().zoom = false;
            if hand.detail().shown.is_none() {
                continue;
            }
            println!("{name} {seq}\n{}", hand.screen());
            hand.press("Tab");
            println!("{}", hand.screen());
            hand.press("Tab");
            println!("{}", hand.screen());
            hand.press("BackTab BackTab");
        }
    }
}
