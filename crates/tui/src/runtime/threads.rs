//! The threads that answer, and the desk on which questions wait for the reader.

use crate::effect::Msg;
use crate::worker::{Answer, Ask, Errand, Means, Reader, Slot};
use mcpreel_replay::player::{Signals, Stopper};
use mcpreel_wire::text::escape;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The time for which an ending viewer waits for its errands. A replay ends its server
/// within that time, and kills it after.
const PATIENCE: Duration = Duration::from_secs(3);

/// The threads that answer; they end when this is dropped.
pub(super) struct Threads {
    reader: Arc<Desk>,
    means: Means,
    sender: SyncSender<Msg>,
    errands: BTreeMap<Slot, Away>,
}

impl Threads {
    pub fn start(means: Means, sender: &SyncSender<Msg>) -> Self {
        let reader = Arc::new(Desk::default());
        let desk = Arc::clone(&reader);
        let reading = Reader::new(means.library.clone(), means.clock);
        let to = sender.clone();
        let read = spawn("reader", sender, move || read(&desk, &to, reading));
        // Without it the viewer would show nothing, and say nothing.
        read.expect("a process that has just begun may start a thread");
        Self {
            reader,
            means,
            sender: sender.clone(),
            errands: BTreeMap::new(),
        }
    }

    /// Leaves a question for whoever answers it.
    pub fn ask(&mut self, ask: Ask) {
        match ask {
            Ask::Errand(errand) => self.send(errand),
            Ask::Stop(slot) => self.errands.get(&slot).iter().for_each(|away| away.stop()),
            _ => self.reader.put(ask),
        }
    }

    fn send(&mut self, errand: Errand) {
        let slot = errand.slot;
        if let Some(before) = self.errands.remove(&slot) {
            before.stop();
        }
        let started = Signals::by_hand();
        let (signals, stopper) = match started {
            Ok(both) => both,
            Err(error) => {
                let why = escape(&error.to_string()).into_owned();
                return tell(&self.sender, errand.fail(why));
            }
        };
        let (alive, end) = sync_channel(0);
        let (means, sender) = (self.means.clone(), self.sender.clone());
        let work = move || {
            let _alive: SyncSender<()> = alive;
            errand.run(&means, &signals, &|answer| tell(&sender, answer));
        };
        match spawn("errand", &self.sender, work) {
            Ok(()) => drop(self.errands.insert(slot, Away { stopper, end })),
            Err(error) => {
                let why = format!("no thread could be started: {error}");
                tell(&self.sender, Answer::failed(escape(&why).into_owned()));
            }
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.reader.close();
        for (slot, away) in &self.errands {
            // Whoever only reads may be left behind.
            if *slot > Slot::Preview {
                away.end();
            }
        }
    }
}

/// An errand on its way.
struct Away {
    stopper: Stopper,
    /// Hangs up when the thread has ended.
    end: Receiver<()>,
}

impl Away {
    fn stop(&self) {
        self.stopper.stop();
    }

    /// Tells the work to end, and waits for that: no server outlives the viewer.
    fn end(&self) {
        for _ in 0..2 {
            self.stop();
            if self.end.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    }
}

/// Sends an answer to the loop, unless the viewer has ended.
fn tell(sender: &SyncSender<Msg>, answer: Answer) {
    let _ = sender.send(Msg::Answer(answer));
}

fn spawn(
    name: &str,
    sender: &SyncSender<Msg>,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let bell = Bell(sender.clone());
    let work = move || {
        let _bell = bell;
        work();
    };
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(|_| ())
}

/// Wakes the loop if its thread panics, so that the viewer ends instead of waiting for answers.
struct Bell(SyncSender<Msg>);

impl Drop for Bell {
    fn drop(&mut self) {
        if thread::panicking() {
            tell(
                &self.0,
                Answer::failed("a thread of the viewer has ended".into()),
            );
        }
    }
}

fn read(desk: &Desk, sender: &SyncSender<Msg>, mut reader: Reader) {
    let mut tell = |answer| tell(sender, answer);
    loop {
        match desk.next(reader.patience()) {
            Next::Closed => return,
            Next::Ask(ask) => reader.take(ask, &mut tell),
            Next::Nothing => {
                reader.follow(&mut tell);
                reader.step(&mut tell);
            }
        }
    }
}

/// Questions that wait: the latest of each kind, and every change in order.
#[derive(Default)]
struct Desk {
    waiting: Mutex<Waiting>,
    bell: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// Questions that come before all jobs: changes, the recording to be opened, the folder.
    first: VecDeque<Ask>,
    jobs: BTreeMap<Slot, Ask>,
    closed: bool,
}

enum Next {
    Ask(Ask),
    Nothing,
    Closed,
}

impl Desk {
    /// Leaves a question; a job takes the place of an older one of its slot.
    pub fn put(&self, ask: Ask) {
        let mut waiting = self.lock();
        match ask {
            Ask::Job(slot, ..) => {
                waiting.jobs.insert(slot, ask);
            }
            ask => {
                if matches!(ask, Ask::Open(..)) {
                    // Nothing about the recording before is of interest any more.
                    waiting.jobs.clear();
                }
                waiting.first.push_back(ask);
            }
        }
        self.bell.notify_one();
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.bell.notify_all();
    }

    /// The next question; waits for at most `patience` for one.
    pub fn next(&self, patience: Duration) -> Next {
        let is_empty = |waiting: &mut Waiting| {
            !waiting.closed && waiting.first.is_empty() && waiting.jobs.is_empty()
        };
        let waited = self
            .bell
            .wait_timeout_while(self.lock(), patience, is_empty);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return Next::Closed;
        }
        let first = waiting.first.pop_front();
        let ask = first.or_else(|| waiting.jobs.pop_first().map(|(_, ask)| ask));
        ask.map_or(Next::Nothing, Next::Ask)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A question is put or taken as a whole: a panic elsewhere leaves nothing half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
