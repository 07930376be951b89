//! The export that runs, on a thread of its own as long as it does.

use super::errand::Errand;
use super::threads::tell;
use crate::effect::Msg;
use crate::worker::Answer as Any;
use crate::worker::export::{self, Answer, Ask, Means, Order};
use mcpreel_wire::text::escape;
use std::io;
use std::sync::mpsc::SyncSender;

/// Makes exports, one at a time. Dropping it stops the one that runs.
pub(super) struct Exporter {
    means: Means,
    sender: SyncSender<Msg>,
    running: Option<Errand>,
}

impl Exporter {
    pub fn new(means: Means, sender: SyncSender<Msg>) -> Self {
        Self {
            means,
            sender,
            running: None,
        }
    }

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
        let (means, sender) = (self.means.clone(), self.sender.clone());
        let errand = Errand::start("export", move |stop| {
            export::run(order, &means, stop, &mut |answer| tell(&sender, answer));
        })?;
        self.running = Some(errand);
        Ok(())
    }

    fn stop(&self) {
        if let Some(running) = &self.running {
            running.stop();
        }
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.end();
        }
    }
}
