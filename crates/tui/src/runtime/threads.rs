//! The threads that answer.

use crate::effect::Msg;
use crate::panels::export::{self, Means};
use crate::worker::beside::Comparer;
use crate::worker::worker_library::Librarian;
use crate::worker::{Answer, Ask, Desk, Next, Reader, replay};
use mcpreel_replay::player::Signals;
use mcpreel_store::library::Library;
use mcpreel_wire::text::escape;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// How long work that is told to end is waited for where the viewer ends. A replay ends its server
/// within that time, and kills it after.
const PATIENCE: Duration = Duration::from_secs(3);

/// The threads that answer; they end when this is dropped.
pub(super) struct Threads {
    reader: Arc<Desk>,
    librarian: Arc<Desk>,
    comparer: Arc<Desk>,
    means: Means,
    sender: SyncSender<Msg>,
    replay: Option<Errand>,
    export: Option<Errand>,
}

impl Threads {
    pub fn start(library: &Library, means: Means, sender: &SyncSender<Msg>) -> Self {
        let clock = means.clock;
        let desk = |name, work: fn(&Desk, &SyncSender<Msg>, Library, _)| {
            let desk = Arc::new(Desk::default());
            let (at, to, of) = (Arc::clone(&desk), sender.clone(), library.clone());
            spawn(name, sender, move || work(&at, &to, of, clock));
            desk
        };
        Self {
            reader: desk("reader", |desk, sender, library, clock| {
                read(desk, sender, Reader::new(library, clock));
            }),
            librarian: desk("librarian", |desk, sender, library, clock| {
                let mut librarian = Librarian::new(library, clock);
                answer(desk, |ask| {
                    if let Ask::Library(ask) = ask {
                        librarian.answer(ask, &mut |answer| tell(sender, answer));
                    }
                });
            }),
            comparer: desk("comparer", |desk, sender, library, clock| {
                let comparer = Comparer::new(library, clock);
                answer(desk, |ask| {
                    if let Ask::Beside(ask) = ask {
                        let is_overtaken = || desk.is_waiting();
                        comparer.answer(ask, &is_overtaken, &mut |answer| tell(sender, answer));
                    }
                });
            }),
            means,
            sender: sender.clone(),
            replay: None,
            export: None,
        }
    }

    /// Leaves a question for whoever answers it.
    pub fn ask(&mut self, ask: Ask) {
        match ask {
            Ask::Library(_) => self.librarian.put(ask),
            Ask::Beside(_) => self.comparer.put(ask),
            Ask::Replay(replay::Ask::Stop) => self.replay.iter().for_each(Errand::stop),
            Ask::Replay(replay::Ask::Start(order)) => self.replay(*order),
            Ask::Export(export::Ask::Stop) => self.export.iter().for_each(Errand::stop),
            Ask::Export(export::Ask::Start(order)) => self.export(*order),
            _ => self.reader.put(ask),
        }
    }

    fn replay(&mut self, order: replay::Order) {
        // The server of the one before has to be gone.
        self.replay = None;
        let generation = order.generation;
        let (library, sender) = (self.means.library.clone(), self.sender.clone());
        let started = Signals::by_hand().and_then(|(signals, stopper)| {
            let work =
                move || replay::run(order, &library, &signals, &mut |one| tell(&sender, one));
            Errand::start("replay", move || stopper.stop(), work)
        });
        match started {
            Ok(errand) => self.replay = Some(errand),
            Err(error) => {
                let why = format!("no replay: {}", escape(&error.to_string()));
                let failed = replay::Answer::Failed(generation, why);
                tell(&self.sender, Answer::Replay(failed));
            }
        }
    }

    fn export(&mut self, order: export::Order) {
        self.export = None;
        let generation = order.generation;
        let (means, sender) = (self.means.clone(), self.sender.clone());
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let work = move || export::run(order, &means, &stopped, &mut |one| tell(&sender, one));
        match Errand::start("export", move || stop.store(true, Ordering::Relaxed), work) {
            Ok(errand) => self.export = Some(errand),
            Err(error) => {
                let why = format!("no export: {}", escape(&error.to_string()));
                let told = export::Told::Failed(why);
                let failed = export::Answer { generation, told };
                tell(&self.sender, Answer::Export(failed));
            }
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.reader.close();
        self.librarian.close();
        self.comparer.close();
    }
}

/// Work on a thread of its own. Dropping it tells the work to end, and waits for that: no server
/// outlives the viewer.
struct Errand {
    stop: Box<dyn Fn()>,
    /// Hangs up when the thread has ended.
    end: Receiver<()>,
}

impl Errand {
    fn start(
        name: &str,
        stop: impl Fn() + 'static,
        work: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (alive, end) = sync_channel(0);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let _alive: SyncSender<()> = alive;
                work();
            })?;
        let stop = Box::new(stop);
        Ok(Self { stop, end })
    }

    fn stop(&self) {
        (self.stop)();
    }
}

impl Drop for Errand {
    fn drop(&mut self) {
        for _ in 0..2 {
            self.stop();
            if self.end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    }
}

/// Whoever does not listen any more has gone.
fn tell(sender: &SyncSender<Msg>, answer: Answer) {
    let _ = sender.send(Msg::Answer(Box::new(answer)));
}

fn spawn(name: &str, sender: &SyncSender<Msg>, work: impl FnOnce() + Send + 'static) {
    let bell = Bell(sender.clone());
    let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
        let _bell = bell;
        work();
    });
    // Without its threads the viewer would show nothing, and say nothing.
    thread.expect("a process that has just begun may start a thread");
}

/// Wakes the loop if its thread panics, so that the viewer ends instead of waiting for answers.
struct Bell(SyncSender<Msg>);

impl Drop for Bell {
    fn drop(&mut self) {
        if thread::panicking() {
            let answer = Answer::Failed("a thread of the viewer has ended".into());
            tell(&self.0, answer);
        }
    }
}

fn read(desk: &Desk, sender: &SyncSender<Msg>, mut reader: Reader) {
    let mut tell = |answer| tell(sender, answer);
    loop {
        match desk.next(reader.patience()) {
            Next::Closed => return,
            Next::Ask(ask) => reader.take(*ask, &mut tell),
            Next::Nothing => {
                reader.follow(&mut tell);
                reader.step(&mut tell);
            }
        }
    }
}

/// Answers one question after the other, until the desk is closed.
fn answer(desk: &Desk, mut work: impl FnMut(Ask)) {
    loop {
        match desk.next(Duration::MAX) {
            Next::Closed => return,
            Next::Nothing => {}
            Next::Ask(ask) => work(*ask),
        }
    }
}
