//! The threads that answer.

use super::exporter::Exporter;
use super::replayer::Replayer;
use crate::effect::Msg;
use crate::worker::beside::Comparer;
use crate::worker::export::Means;
use crate::worker::library::Librarian;
use crate::worker::{Answer, Ask, Desk, Next, Reader, Slot};
use mcpreel_store::library::Library;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

/// The threads that answer; they end when this is dropped.
pub(super) struct Threads {
    reader: Arc<Desk>,
    librarian: Arc<Desk>,
    comparer: Arc<Desk>,
    replayer: Replayer,
    exporter: Exporter,
}

impl Threads {
    pub fn start(library: &Library, means: Means, sender: &SyncSender<Msg>) -> Self {
        let clock = means.clock;
        let (reader, librarian) = (Arc::new(Desk::default()), Arc::new(Desk::default()));
        let work = (Arc::clone(&reader), sender.clone(), library.clone());
        spawn("reader", sender, move || {
            read(&work.0, &work.1, Reader::new(work.2, clock));
        });
        let work = (Arc::clone(&librarian), sender.clone(), library.clone());
        spawn("librarian", sender, move || {
            list(&work.0, &work.1, Librarian::new(work.2, clock));
        });
        let comparer = Arc::new(Desk::default());
        let work = (Arc::clone(&comparer), sender.clone(), library.clone());
        spawn("comparer", sender, move || {
            compare(&work.0, &work.1, &Comparer::new(work.2, clock));
        });
        Self {
            reader,
            librarian,
            comparer,
            replayer: Replayer::new(library.clone(), sender.clone()),
            exporter: Exporter::new(means, sender.clone()),
        }
    }

    /// Leaves a question for whoever answers it.
    pub fn ask(&mut self, ask: Ask) {
        match ask {
            Ask::Library(_) => self.librarian.put(ask),
            Ask::Beside(_) => self.comparer.put(ask),
            Ask::Replay(ask) => self.replayer.take(ask),
            Ask::Export(ask) => self.exporter.take(ask),
            _ => self.reader.put(ask),
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

/// Whoever does not listen any more has gone.
pub(super) fn tell(sender: &SyncSender<Msg>, answer: Answer) {
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
            let answer = Answer::Failed(Slot::Open, "a thread of the viewer has ended".into());
            let _ = self.0.send(Msg::Answer(Box::new(answer)));
        }
    }
}

fn read(desk: &Desk, sender: &SyncSender<Msg>, mut reader: Reader) {
    // Whoever does not listen any more has gone, and will close the desk.
    let mut tell = |answer: Answer| {
        let _ = sender.send(Msg::Answer(Box::new(answer)));
    };
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

fn compare(desk: &Desk, sender: &SyncSender<Msg>, comparer: &Comparer) {
    loop {
        match desk.next(Duration::MAX) {
            Next::Closed => return,
            Next::Nothing => {}
            Next::Ask(ask) => {
                if let Ask::Beside(ask) = *ask {
                    comparer.answer(ask, &|| desk.is_waiting(), &mut |answer| {
                        let _ = sender.send(Msg::Answer(Box::new(answer)));
                    });
                }
            }
        }
    }
}

fn list(desk: &Desk, sender: &SyncSender<Msg>, mut librarian: Librarian) {
    loop {
        match desk.next(Duration::MAX) {
            Next::Closed => return,
            Next::Nothing => {}
            Next::Ask(ask) => {
                if let Ask::Library(ask) = *ask {
                    librarian.answer(ask, &mut |answer| {
                        let _ = sender.send(Msg::Answer(Box::new(answer)));
                    });
                }
            }
        }
    }
}
