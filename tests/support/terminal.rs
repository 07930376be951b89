//! A terminal of its own for a program, whose screen can be looked at.

use mcpreel_trace::clock::{Clock, Moment};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// No condition takes longer on a busy machine, unless the program is broken.
const DEADLINE: Duration = Duration::from_secs(30);

/// Whoever has drawn nothing for so long waits for somebody.
const QUIET: Duration = Duration::from_millis(40);

/// Columns and rows.
pub type Size = (u16, u16);

/// A program in a terminal. It is killed when this is dropped.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    /// Taken where the terminal is hung up.
    master: Option<Box<dyn MasterPty + Send>>,
    keys: Option<Box<dyn Write + Send>>,
    shown: Arc<Shown>,
}

/// What the program has drawn, and whoever waits for more of it.
struct Shown {
    state: Mutex<State>,
    changed: Condvar,
    clock: Clock,
}

struct State {
    parser: vt100::Parser,
    /// When the last bytes came.
    at: Moment,
    /// The program asked for the colour of the background.
    is_asked: bool,
    /// The program closed its terminal.
    over: bool,
}

impl Terminal {
    /// Runs `program` with `arguments`, and nothing in its environment but `environment` and
    /// what makes it a terminal of 256 colours.
    pub fn start(
        program: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
        size: Size,
    ) -> Self {
        let pair = native_pty_system().openpty(pty_size(size));
        let pair = pair.expect("the system has terminals");
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        // Nobody asks what the background is: nobody answers.
        command.env("COLORFGBG", "15;0");
        for (name, value) in environment {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).expect("it starts");
        let output = pair.master.try_clone_reader();
        let shown = Arc::new(Shown::new(size));
        let reader = Arc::clone(&shown);
        let output = output.expect("a terminal can be read");
        std::thread::spawn(move || reader.follow(output));
        let keys = pair.master.take_writer();
        Self {
            child,
            keys: Some(keys.expect("a terminal can be written")),
            master: Some(pair.master),
            shown,
        }
    }

    /// The process in the terminal.
    pub fn pid(&self) -> u32 {
        self.child.process_id().expect("it was started")
    }

    /// Keys as the terminal sends them. Returns when.
    pub fn press(&mut self, keys: &str) -> Moment {
        let at = self.shown.clock.now();
        let terminal = self.keys.as_mut().expect("it is not hung up");
        let sent = terminal
            .write_all(keys.as_bytes())
            .and_then(|()| terminal.flush());
        sent.expect("the terminal takes keys");
        at
    }

    /// Gives the window another size.
    pub fn resize(&mut self, size: Size) {
        self.shown.lock().parser.screen_mut().set_size(
            NonZeroU16::new(size.1).expect("not empty"),
            NonZeroU16::new(size.0).expect("not empty"),
        );
        let master = self.master.as_ref().expect("it is not hung up");
        master.resize(pty_size(size)).expect("it can be resized");
    }

    /// The window is closed.
    pub fn hang_up(&mut self) {
        self.keys = None;
        self.master = None;
    }

    /// The rows of the screen.
    pub fn text(&self) -> String {
        self.shown.lock().parser.screen().contents()
    }

    /// The clock of [`Self::press`] and [`Self::wait_for`].
    pub fn clock(&self) -> Clock {
        self.shown.clock
    }

    /// Another program writes on the same terminal; the one in it does not know.
    pub fn scribble(&self, text: &str) {
        self.shown.lock().parser.process(text.as_bytes());
    }

    /// Looks at the screen as it stands.
    pub fn look<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.shown.lock().parser.screen())
    }

    /// Waits until the screen shows `part`. Returns when that was.
    pub fn wait_for(&self, part: &str) -> Moment {
        self.wait_until(part, |screen| screen.contents().contains(part))
    }

    /// Waits until the screen shows `part` no more.
    pub fn wait_for_no(&self, part: &str) -> Moment {
        self.wait_until(part, |screen| !screen.contents().contains(part))
    }

    /// Waits until the screen is as `condition` wants it; fails with the screen otherwise.
    pub fn wait_until(&self, what: &str, condition: impl Fn(&vt100::Screen) -> bool) -> Moment {
        let shown = self.wait_at_most(DEADLINE, condition);
        shown.unwrap_or_else(|| panic!("never shown: {what}; the screen:\n{}", self.text()))
    }

    /// The same, for so long at most; `None` if it never was.
    pub fn wait_at_most(
        &self,
        limit: Duration,
        condition: impl Fn(&vt100::Screen) -> bool,
    ) -> Option<Moment> {
        let began = self.shown.clock.now();
        let mut state = self.shown.lock();
        loop {
            if condition(state.parser.screen()) {
                return Some(state.at.max(began));
            }
            let waited = self.shown.clock.now().since(began);
            let left = limit.checked_sub(waited).filter(|_| !state.over)?;
            let waited = self.shown.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the program asks for the colour of the background, and answers.
    pub fn answer_background(&mut self, color: &str) {
        let shown = Arc::clone(&self.shown);
        let mut state = shown.lock();
        while !state.is_asked {
            let waited = shown.changed.wait_timeout(state, DEADLINE);
            let (asked, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            assert!(!timeout.timed_out(), "nobody asked");
            state = asked;
        }
        drop(state);
        self.press(&format!(
            "\x1b]10;rgb:8080/8080/8080\x07\x1b]11;rgb:{color}\x07\x1b[?62;4c"
        ));
    }

    /// Waits until nothing was drawn for a moment.
    pub fn wait_until_quiet(&self) {
        let mut state = self.shown.lock();
        loop {
            let waited = self.shown.changed.wait_timeout(state, QUIET);
            let (next, timeout) = waited.expect("no thread panics");
            if timeout.timed_out() {
                return;
            }
            state = next;
        }
    }

    /// Waits for the end. Returns the exit code and what stands on the screen then.
    pub fn end(&mut self) -> (u32, String) {
        let status = self.child.wait().expect("the child is ours");
        let mut state = self.shown.lock();
        while !state.over {
            let waited = self.shown.changed.wait_timeout(state, DEADLINE);
            let (next, timeout) = waited.expect("no thread panics");
            state = next;
            assert!(!timeout.timed_out(), "somebody else holds the terminal");
        }
        (status.exit_code(), state.parser.screen().contents())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Shown {
    fn new((columns, rows): Size) -> Self {
        let parser = vt100::Parser::new(
            NonZeroU16::new(rows).expect("not empty"),
            NonZeroU16::new(columns).expect("not empty"),
            0,
        );
        Self {
            state: Mutex::new(State {
                parser,
                at: Moment(0),
                is_asked: false,
                over: false,
            }),
            changed: Condvar::new(),
            clock: Clock::start(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that fails while it looks at the screen says so itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn follow(&self, mut output: impl Read) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(n @ 1..) = output.read(&mut buffer) {
            let mut state = self.lock();
            state.parser.process(&buffer[..n]);
            state.at = self.clock.now();
            state.is_asked |= buffer[..n].windows(5).any(|part| part == b"\x1b]11;");
            drop(state);
            self.changed.notify_all();
        }
        self.lock().over = true;
        self.changed.notify_all();
    }
}

fn pty_size((cols, rows): Size) -> PtySize {
    PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    }
}
