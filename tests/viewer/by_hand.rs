//! The viewer driven by hand: no threads, no terminal, and a clock that stands still until it is
//! told otherwise.

use crate::fixture::{MS, WALL_NS};
use crate::notation;
use mcpreel_redact::Policy;
use mcpreel_replay::player::Signals;
use mcpreel_store::library::Library;
use mcpreel_trace::clock::Clock;
use mcpreel_tui::app::{Overlay, Session, Settings, Viewer as State};
use mcpreel_tui::effect::{Effect, Effects, Msg, Now};
use mcpreel_tui::keymap::Key;
use mcpreel_tui::worker::{Answer, Ask, Errand, Means, Reader, Slot};
use mcpreel_tui::{panels, update, view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

/// When the viewer looks at a recording, after its start.
const AT_NS: u64 = 24_000 * MS;

/// Steps after which a question counts as never answered.
const PATIENCE: u32 = 1_000_000;

/// How far exports come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    /// They only begin.
    #[default]
    Nowhere,
    /// To their end.
    Whole,
}

/// The viewer without its threads.
pub struct Viewer {
    pub state: State,
    reader: Reader,
    /// The comparisons, replays and exports that it sent for, oldest first.
    pub errands: Vec<Slot>,
    /// Whether replays are made.
    pub plays: bool,
    /// How often it wanted a replay or an export to stop.
    pub stops: usize,
    /// How far exports come: nowhere, stopped at once, to their end.
    pub writes: Writes,
    means: Means,
    /// What it wants of its terminal, oldest first.
    pub wishes: Vec<Effect>,
}

impl Viewer {
    /// The panel on top, which has to be of this kind.
    pub fn top<T: Overlay>(&self) -> &T {
        let top = self.state.app.top();
        top.unwrap_or_else(|| panic!("something else is on top\n{}", self.text()))
    }

    /// The recording that is open.
    pub fn session(&self) -> &Session {
        let session = self.state.session.as_deref();
        session.expect("a recording is open")
    }

    /// The recording `path` in a terminal of this size.
    pub fn open(path: &Path, size: (u16, u16)) -> Self {
        Self::open_pressing(path, size, "")
    }

    /// The same, and keys are pressed before anything about it is known.
    pub fn open_pressing(path: &Path, size: (u16, u16), keys: &str) -> Self {
        let dir = path.parent().expect("it is in a folder");
        let mut viewer = Self::begin(dir, Settings::default(), size);
        let mut effects = panels::session::open(&mut viewer.state, path, None);
        for key in keys.split_whitespace().filter_map(Key::parse) {
            effects.extend(update::update(&mut viewer.state, Msg::Key(key)));
        }
        viewer.carry_out(effects);
        viewer
    }

    /// The recording `path`, which may lie elsewhere than in the folder `dir`.
    pub fn open_in(path: &Path, dir: &Path, size: (u16, u16)) -> Self {
        let mut viewer = Self::begin(dir, Settings::default(), size);
        let effects = panels::session::open(&mut viewer.state, path, None);
        viewer.carry_out(effects);
        viewer.settle();
        viewer
    }

    /// The recordings of the folder `dir`.
    pub fn folder(dir: &Path, size: (u16, u16)) -> Self {
        let mut viewer = Self::begin(dir, Settings::default(), size);
        viewer.settle();
        viewer
    }

    fn begin(dir: &Path, settings: Settings, size: (u16, u16)) -> Self {
        let (library, clock) = (Library::new(dir), Clock::start());
        let now = Now {
            ui_ns: 0,
            wall_ns: WALL_NS + AT_NS,
        };
        let mut state = State::new(&library, settings, size, now);
        let effects = mcpreel_tui::panels::library::begin(&mut state.app);
        let means = Means {
            library: library.clone(),
            policy: || {
                let policy = Policy::new(&mcpreel_redact::Settings::default());
                Ok(Arc::new(policy.expect("it needs nothing")))
            },
            clock,
        };
        let mut viewer = Self {
            state,
            reader: Reader::new(library.clone(), clock),
            errands: Vec::new(),
            plays: false,
            stops: 0,
            writes: Writes::default(),
            means,
            wishes: Vec::new(),
        };
        viewer.carry_out(effects);
        viewer
    }

    /// Presses keys as they are written in the help, separated by blanks: `j j Enter Ctrl-D`.
    pub fn press(&mut self, keys: &str) -> &mut Self {
        for name in keys.split_whitespace() {
            let key = Key::parse(name).unwrap_or_else(|| panic!("no key is called {name}"));
            self.key(key);
        }
        self
    }

    /// Presses keys and types what stands in single quotes: `f 'is:failed' Enter`.
    pub fn act(&mut self, script: &str) -> &mut Self {
        for (nth, part) in script.split('\'').enumerate() {
            if nth % 2 == 0 {
                self.press(part);
            } else {
                self.type_text(part);
            }
        }
        self
    }

    /// From here on it says that its recording lies in the folder of a person: where it really
    /// lies is never the same.
    pub fn stand_in(&mut self, real: &Path) {
        let folder = Path::new("/home/ana/.local/share/mcpreel/recordings");
        folder.clone_into(&mut self.state.app.library.dir);
        if let (Some(session), Some(name)) = (self.state.session.as_deref_mut(), real.file_name()) {
            session.path = folder.join(name);
        }
    }

    /// Types a text letter by letter.
    pub fn type_text(&mut self, text: &str) -> &mut Self {
        for letter in text.chars() {
            let name = if letter == ' ' {
                "Space".to_owned()
            } else {
                letter.to_string()
            };
            self.press(&name);
        }
        self
    }

    /// Presses one key and waits for all answers.
    pub fn key(&mut self, key: Key) {
        self.tell(Msg::Key(key));
    }

    /// Something happens; waits for all answers.
    pub fn tell(&mut self, msg: Msg) {
        let effects = update::update(&mut self.state, msg);
        self.carry_out(effects);
        self.settle();
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, size: (u16, u16)) -> &mut Self {
        self.tell(Msg::Resize(size.0, size.1));
        self
    }

    /// Time passes.
    pub fn wait_ns(&mut self, ns: u64) -> &mut Self {
        let now = Now {
            ui_ns: self.state.app.now.ui_ns + ns,
            wall_ns: self.state.app.now.wall_ns + ns,
        };
        self.tell(Msg::Tick(now));
        self
    }

    /// Looks whether the recording has grown, and answers until there is no more to say.
    pub fn settle(&mut self) {
        let mut answers = Vec::new();
        self.reader.follow(&mut |answer| answers.push(answer));
        self.take(answers);
        for _ in 0..PATIENCE {
            let mut answers = Vec::new();
            let worked = self.reader.step(&mut |answer| answers.push(answer));
            self.take(answers);
            if !worked {
                return;
            }
        }
        panic!("the reader never comes to an end");
    }

    /// What the terminal shows.
    pub fn screen(&self) -> Buffer {
        let (columns, rows) = self.state.app.size;
        let terminal = Terminal::new(TestBackend::new(columns, rows));
        let mut terminal = terminal.expect("memory does not fail");
        let drawn = terminal.draw(|frame| view::draw(&self.state, frame));
        drawn.expect("memory does not fail");
        terminal.backend().buffer().clone()
    }

    /// What the terminal shows, without styles.
    pub fn text(&self) -> String {
        let screen = notation::screen(&self.screen());
        let (text, _) = screen.split_once("\n---\n").expect("it has two parts");
        text.to_owned()
    }

    /// Whether it wanted to end.
    pub fn has_quit(&self) -> bool {
        let quit = |wish: &Effect| matches!(wish, Effect::Quit);
        self.wishes.iter().any(quit)
    }

    fn take(&mut self, answers: Vec<Answer>) {
        for answer in answers {
            let effects = update::update(&mut self.state, Msg::Answer(answer));
            self.carry_out(effects);
        }
    }

    fn carry_out(&mut self, effects: Effects) {
        for effect in effects {
            match effect {
                Effect::Ask(ask) => self.ask(ask),
                wish => self.wishes.push(wish),
            }
        }
    }

    fn ask(&mut self, ask: Ask) {
        let mut answers = Vec::new();
        match ask {
            Ask::Stop(Slot::Replay | Slot::Export) => self.stops += 1,
            Ask::Stop(_) => {}
            Ask::Errand(errand) => answers = self.run(errand),
            ask => self.reader.take(ask, &mut |answer| answers.push(answer)),
        }
        self.take(answers);
    }

    fn run(&mut self, errand: Errand) -> Vec<Answer> {
        let answers = RefCell::default();
        let (signals, _stopper) = Signals::by_hand().expect("there are descriptors");
        self.errands.push(errand.slot);
        match (errand.slot, self.writes) {
            (Slot::Replay, _) if !self.plays => return vec![],
            (Slot::Export, Writes::Nowhere) => return vec![],
            _ => {}
        }
        let tell = |answer| Vec::push(&mut *answers.borrow_mut(), answer);
        errand.run(&self.means, &signals, &tell);
        answers.into_inner()
    }
}

/// All these words are on the screen.
#[track_caller]
pub fn has(viewer: &Viewer, words: &[&str]) {
    let text = viewer.text();
    for word in words {
        assert!(text.contains(word), "no {word:?} in\n{text}");
    }
}
