//! The threads that answer.

use crate::effect::Msg;
use crate::worker::{Answer, Ask, Desk, Errand, Means, Next, Reader, Slot};
use mcpreel_replay::player::{Signals, Stopper};
use mcpreel_wire::text::escape;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
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
        let (library, clock, to) = (means.library.clone(), means.clock, sender.clone());
        let read = spawn("reader", sender, move || read(&desk, &to, library, clock));
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

fn read(
    desk: &Desk,
    sender: &SyncSender<Msg>,
    library: mcpreel_store::library::Library,
    clock: mcpreel_trace::clock::Clock,
) {
    let mut reader = Reader::new(library, clock);
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
