//! The replay that runs, on a thread of its own as long as it does.

use super::threads::tell;
use crate::effect::Msg;
use crate::worker::Answer as Any;
use crate::worker::replay::{self, Answer, Ask, Order};
use mcpreel_replay::player::{Signals, Stopper};
use mcpreel_store::library::Library;
use mcpreel_wire::text::escape;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// How long a server may take to end where the viewer ends, after its input was closed and, in the
/// middle of that time, after SIGTERM. Then it is killed.
const PATIENCE: Duration = Duration::from_secs(3);

/// Makes replays, one at a time. Dropping it ends the server that is replayed to.
pub(super) struct Replayer {
    library: Library,
    sender: SyncSender<Msg>,
    running: Option<Running>,
}

struct Running {
    stopper: Stopper,
    /// Hangs up when the thread has ended.
    end: Receiver<()>,
}

impl Replayer {
    pub fn new(library: Library, sender: SyncSender<Msg>) -> Self {
        Self {
            library,
            sender,
            running: None,
        }
    }

    pub fn take(&mut self, ask: Ask) {
        match ask {
            Ask::Stop => {
                if let Some(running) = &self.running {
                    running.stopper.stop();
                }
            }
            Ask::Start(order) => {
                let generation = order.generation;
                self.end();
                if let Err(error) = self.start(*order) {
                    let why = format!("no replay: {}", escape(&error.to_string()));
                    tell(&self.sender, Any::Replay(Answer::Failed(generation, why)));
                }
            }
        }
    }

    fn start(&mut self, order: Order) -> io::Result<()> {
        let (signals, stopper) = Signals::by_hand()?;
        let (alive, end) = sync_channel(0);
        let (library, sender) = (self.library.clone(), self.sender.clone());
        thread::Builder::new()
            .name("replay".to_owned())
            .spawn(move || {
                let _alive: SyncSender<()> = alive;
                replay::run(order, &library, &signals, &mut |answer| {
                    tell(&sender, answer);
                });
            })?;
        self.running = Some(Running { stopper, end });
        Ok(())
    }

    /// Ends the one that runs, and waits for it: no server outlives the viewer.
    fn end(&mut self) {
        let Some(running) = self.running.take() else {
            return;
        };
        running.stopper.stop();
        let is_over = |end: &Receiver<()>, patience| {
            matches!(
                end.recv_timeout(patience),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected)
            )
        };
        if !is_over(&running.end, PATIENCE) {
            running.stopper.stop();
            is_over(&running.end, PATIENCE);
        }
    }
}

impl Drop for Replayer {
    fn drop(&mut self) {
        self.end();
    }
}
