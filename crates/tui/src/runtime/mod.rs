//! The terminal, the loop, and what happens when something panics.
//!
//! ```text
//!  input thread ──┐                      ┌─▶ reader thread (one recording, the folder)
//!  reader ────────┼─▶ bounded channel ─▶ loop ─▶ draw
//!  errands ───────┘                      └─▶ a thread for each errand: a comparison, a replay, …
//! ```
//!
//! The loop takes whatever has come, changes the state, and draws once. It reads the clock and
//! hands it on; nothing below does. An idle viewer of a finished recording does nothing at all.

mod input;
mod panic;
mod screen;
mod threads;

use super::app::{Settings, Viewer};
use super::effect::{Effect, Effects, Msg, Next, Now};
use super::panels::shelf::FindServers;
use super::worker::Means;
use super::{panels, update, view};
use mcpreel_redact::Policy;
use mcpreel_store::library::Library;
use mcpreel_trace::clock::{Clock, wall_clock_ns};
use panic::Fuse;
use screen::Screen;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use threads::Threads;

/// Messages that wait for the loop at most: whoever sends more waits.
const BACKLOG: usize = 256;

/// Messages that are taken in before the screen is drawn.
const AT_ONCE: usize = 64;

#[derive(Debug)]
pub struct Options {
    pub library: Library,
    /// The recording to be opened at once; none shows the folder.
    pub open: Option<PathBuf>,
    /// The frame to be selected in it.
    pub seq: Option<mcpreel_trace::frame::Seq>,
    pub settings: Settings,
    /// Reads the policy of redaction, which takes long; else says why there is none, one sentence.
    pub policy: fn() -> Result<Arc<Policy>, String>,
    /// Faults of the configuration, shown as messages.
    pub remarks: Vec<String>,
    /// The file that keeps layout and colours for the next time.
    pub memory: Option<PathBuf>,
    /// Finds the servers of hosts that could be recorded.
    pub find_servers: Option<FindServers>,
}

/// How the viewer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Quit,
    Signal(i32),
    Next(Next),
}

/// Shows the viewer until the user quits, or wants something that it cannot do.
pub fn run(options: Options) -> io::Result<Ended> {
    let clock = Clock::start();
    let screen = Screen::begin(options.settings.mouse)?;
    let (sender, inbox) = sync_channel(BACKLOG);
    let means = Means {
        library: options.library.clone(),
        policy: options.policy,
        clock,
    };
    let threads = Threads::start(means, &sender);
    input::start(sender);
    let size = screen.size()?;
    let mut viewer = Viewer::new(&options.library, options.settings, size, now(clock));
    viewer.app.library.find_servers = options.find_servers;
    for remark in options.remarks {
        viewer.app.refuse(remark);
    }
    let effects = match &options.open {
        Some(path) => panels::session::open(&mut viewer, path, options.seq),
        None => panels::library::begin(&mut viewer.app),
    };
    let mut event_loop = Loop {
        viewer,
        screen,
        threads,
        clock,
        memory: options.memory,
        fuse: Fuse::of_process(),
        ended: None,
    };
    let ended = event_loop.run(&inbox, effects);
    // Nobody listens any more.
    drop(inbox);
    ended
}

/// Dropping it gives the terminal back before a replay is waited for: fields go in this order.
struct Loop {
    viewer: Viewer,
    screen: Screen,
    threads: Threads,
    clock: Clock,
    memory: Option<PathBuf>,
    fuse: Fuse,
    ended: Option<Ended>,
}

impl Loop {
    fn run(&mut self, inbox: &Receiver<Msg>, effects: Effects) -> io::Result<Ended> {
        self.carry_out(effects)?;
        while self.ended.is_none() {
            let began = self.clock.now();
            self.screen.draw(|frame| view::draw(&self.viewer, frame))?;
            tracing::trace!(took = ?self.clock.now().since(began), "drawn");
            let first = match self.wait(inbox) {
                Ok(msg) => Some(msg),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            self.take_in(Msg::Tick(now(self.clock)))?;
            let backlog = inbox.try_iter().take(AT_ONCE);
            for msg in first.into_iter().chain(backlog) {
                if let Msg::Leave(signal) = msg {
                    return Ok(signal.map_or(Ended::Quit, Ended::Signal));
                }
                self.take_in(msg)?;
            }
        }
        Ok(self.ended.take().unwrap_or(Ended::Quit))
    }

    fn take_in(&mut self, msg: Msg) -> io::Result<()> {
        if matches!(msg, Msg::Key(_)) {
            self.fuse.burn();
            if self.screen.leave_print()? {
                return Ok(());
            }
        }
        let effects = update::update(&mut self.viewer, msg);
        self.carry_out(effects)
    }

    fn wait(&self, inbox: &Receiver<Msg>) -> Result<Msg, RecvTimeoutError> {
        match update::patience(&self.viewer) {
            Some(patience) => inbox.recv_timeout(patience),
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    fn carry_out(&mut self, effects: Effects) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Ask(ask) => self.threads.ask(ask),
                Effect::Copy(text) => self.screen.copy(&text)?,
                Effect::Print(text) => self.screen.print(&text)?,
                Effect::Mouse(on) => self.screen.mouse(on)?,
                Effect::Suspend => self.screen.suspend()?,
                Effect::Repaint => self.screen.repaint()?,
                Effect::Remember => {
                    if let Some(path) = &self.memory {
                        // It is a convenience, and nobody can do anything about it.
                        let _ = self.viewer.app.settings.remember().write(path);
                    }
                }
                Effect::Quit => self.ended = Some(Ended::Quit),
                Effect::Leave(next) => self.ended = Some(Ended::Next(next)),
            }
        }
        Ok(())
    }
}

fn now(clock: Clock) -> Now {
    Now {
        ui_ns: clock.now().0,
        wall_ns: wall_clock_ns(),
    }
}
