//! The export that runs, on a thread of its own as long as it does.

use crate::text::escape;
use crate::tui::effect::Msg;
use crate::tui::worker::Answer as Any;
use crate::tui::worker::export::{self, Answer, Ask, Means, Order};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// How long it is waited for where the viewer ends: it stops within a few frames. What it leaves
/// behind is removed by whoever ends the process.
const PATIENCE: Duration = Duration::from_secs(3);

/// Makes exports, one at a time. Dropping it stops the one that runs.
pub(super) struct Exporter {
    means: Means,
    sender: SyncSender<Msg>,
    running: Option<Running>,
}

struct Running {
    stop: Arc<AtomicBool>,
    /// Hangs up when the thread has ended.
    end: Receiver<()>,
}

impl Exporter {
    pub fn new(means: Means, sender: SyncSender<Msg>) -> Self {
        Self {
            means,
            sender,
            running: None,
        }
    }

    /// Does what is asked.
    pub fn take(&mut self, ask: Ask) {
        match ask {
            Ask::Stop => self.stop(),
            Ask::Start(order) => {
                let generation = order.generation;
                self.stop();
                if let Err(error) = self.start(*order) {
                    let why = format!("no export: {}", escape(&error.to_string()));
                    tell(&self.sender, Any::Export(Answer::Failed(generation, why)));
                }
            }
        }
    }

    fn start(&mut self, order: Order) -> io::Result<()> {
        let stop = Arc::new(AtomicBool::new(false));
        let (alive, end) = sync_channel(0);
        let (means, sender) = (self.means.clone(), self.sender.clone());
        let stopped = Arc::clone(&stop);
        thread::Builder::new()
            .name("export".to_owned())
            .spawn(move || {
                let _alive: SyncSender<()> = alive;
                export::run(order, &means, &stopped, &mut |answer| {
                    tell(&sender, answer);
                });
            })?;
        self.running = Some(Running { stop, end });
        Ok(())
    }

    fn stop(&self) {
        if let Some(running) = &self.running {
            running.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Whoever does not listen any more has gone.
fn tell(sender: &SyncSender<Msg>, answer: Any) {
    let _ = sender.send(Msg::Answer(Box::new(answer)));
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.stop();
        if let Some(running) = self.running.take() {
            let _ = running.end.recv_timeout(PATIENCE);
        }
    }
}
