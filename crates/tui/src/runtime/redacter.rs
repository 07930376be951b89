//! Redacted recordings for the screen, on a thread of its own as long as one is shown.

use super::errand::Errand;
use super::threads::tell;
use crate::effect::Msg;
use crate::worker::Answer as Any;
use crate::worker::export::Means;
use crate::worker::redacted::{Answer, Ask, Maker, Order};
use mcpreel_wire::text::escape;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;

/// Has them made of one recording at a time. Dropping it stops that.
pub(super) struct Redacter {
    means: Means,
    sender: SyncSender<Msg>,
    /// The one that is wanted last, and those that have not ended yet.
    running: Vec<Errand>,
}

impl Redacter {
    pub fn new(means: Means, sender: SyncSender<Msg>) -> Self {
        Self {
            means,
            sender,
            running: Vec::new(),
        }
    }

    pub fn take(&mut self, ask: Ask) {
        self.running.retain(|errand| !errand.is_over());
        if let Ask::Forget(likeness) = ask {
            // Where there is no thread for it, it goes here.
            let forgetting = Errand::start("forget", move |_| drop(likeness));
            self.running.extend(forgetting);
            return;
        }
        self.running.iter().for_each(Errand::stop);
        if let Ask::Start(order) = ask {
            let generation = order.generation;
            if let Err(error) = self.start(order) {
                let why = escape(&error.to_string()).into_owned();
                tell(&self.sender, Any::Redacted(Answer::Failed(generation, why)));
            }
        }
    }

    fn start(&mut self, order: Order) -> io::Result<()> {
        let (means, sender) = (self.means.clone(), self.sender.clone());
        let errand = Errand::start("redact", move |stop| {
            make(Maker::new(order, means), &sender, stop);
        })?;
        self.running.push(errand);
        Ok(())
    }
}

/// Until it is stopped, or nothing more will come.
fn make(mut maker: Maker, sender: &SyncSender<Msg>, stop: &AtomicBool) {
    while let Some(wait) = maker.step(stop, &mut |answer| tell(sender, answer)) {
        thread::park_timeout(wait);
        if stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

impl Drop for Redacter {
    fn drop(&mut self) {
        self.running.iter().for_each(Errand::stop);
        self.running.drain(..).for_each(Errand::end);
    }
}
