//! Batches that two threads work on in turn, while the next one is put together.
//!
//! ```text
//!  put together   1  2  3  4 …
//!  one thread        1─────3─────
//!  the other            2─────4───
//! ```
//!
//! What they make comes back in the order of the batches. There are three batches in memory,
//! however many there are of them; theirs is used again. Where no thread can be had, the work is
//! done at once.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// A batch, and what is made of it.
pub(super) trait Batch: Default + Send + 'static {
    fn work(&mut self);
}

/// Those that work, who are called when there is work.
#[derive(Debug)]
pub(super) struct InTurn<B> {
    thread: fn() -> Builder,
    hands: [Hand<B>; 2],
    next: usize,
}

#[derive(Debug)]
enum Hand<B> {
    Uncalled,
    There(Worker<B>),
    /// There is no thread; what is worked on is done already.
    Here(Option<B>),
}

#[derive(Debug)]
struct Worker<B> {
    /// Gone as soon as nothing more comes: then the thread ends.
    give: Option<SyncSender<B>>,
    done: Receiver<B>,
    thread: Option<JoinHandle<()>>,
    is_busy: bool,
}

impl<B: Batch> InTurn<B> {
    pub fn new() -> Self {
        Self::of(|| Builder::new().name("render".into()))
    }

    fn of(thread: fn() -> Builder) -> Self {
        Self {
            thread,
            hands: [Hand::Uncalled, Hand::Uncalled],
            next: 0,
        }
    }

    /// Takes a batch, and returns the last but one before it, which is done; at first there is none.
    pub fn swap(&mut self, batch: B) -> Option<B> {
        let hand = &mut self.hands[self.next];
        self.next = 1 - self.next;
        let done = hand.take();
        hand.give(self.thread, batch);
        done
    }

    /// The next one that is not returned yet; none where all are.
    pub fn take(&mut self) -> Option<B> {
        let first = self.next;
        self.next = 1 - first;
        let done = self.hands[first].take();
        done.or_else(|| self.hands[self.next].take())
    }
}

impl<B: Batch> Hand<B> {
    fn give(&mut self, thread: fn() -> Builder, mut batch: B) {
        if matches!(self, Self::Uncalled) {
            *self = Worker::start(thread()).map_or(Self::Here(None), Self::There);
        }
        if let Self::There(worker) = self {
            worker.give(batch);
        } else {
            batch.work();
            *self = Self::Here(Some(batch));
        }
    }

    fn take(&mut self) -> Option<B> {
        match self {
            Self::Uncalled => None,
            Self::There(worker) => worker.take(),
            Self::Here(kept) => kept.take(),
        }
    }
}

impl<B: Batch> Worker<B> {
    fn start(thread: Builder) -> Option<Self> {
        let (give, given) = sync_channel::<B>(1);
        let (back, done) = sync_channel(1);
        let work = move || {
            for mut batch in given {
                batch.work();
                if back.send(batch).is_err() {
                    return;
                }
            }
        };
        Some(Self {
            thread: Some(thread.spawn(work).ok()?),
            give: Some(give),
            done,
            is_busy: false,
        })
    }

    fn give(&mut self, batch: B) {
        let given = self.give.as_ref().map(|give| give.send(batch));
        self.is_busy = true;
        if !matches!(given, Some(Ok(()))) {
            self.fail();
        }
    }

    fn take(&mut self) -> Option<B> {
        if !std::mem::take(&mut self.is_busy) {
            return None;
        }
        let done = self.done.recv();
        if done.is_err() {
            self.fail();
        }
        done.ok()
    }
}

impl<B> Worker<B> {
    /// It has ended before its time: it panicked.
    fn fail(&mut self) {
        if let Err(panic) = self.join() {
            resume_unwind(panic);
        }
    }

    fn join(&mut self) -> std::thread::Result<()> {
        self.give = None;
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }
}

impl<B> Drop for Worker<B> {
    fn drop(&mut self) {
        // If it panicked, that was said.
        let _ = self.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    /// A number, and where it was worked on.
    #[derive(Debug, Default)]
    struct Number(u32, Option<thread::ThreadId>);

    impl Batch for Number {
        fn work(&mut self) {
            assert_ne!(self.0, 13, "it is unlucky");
            self.1 = Some(thread::current().id());
        }
    }

    /// These numbers after they were worked on.
    fn worked_on(mut hands: InTurn<Number>, numbers: std::ops::Range<u32>) -> Vec<Number> {
        let mut all = Vec::new();
        for number in numbers {
            all.extend(hands.swap(Number(number, None)));
        }
        all.extend(std::iter::from_fn(|| hands.take()));
        all
    }

    #[test]
    fn all_come_back_in_their_order_however_many() {
        for many in [0, 1, 2, 3, 10, 11] {
            let done = worked_on(InTurn::new(), 20..20 + many);
            let numbers: Vec<_> = done.iter().map(|done| done.0).collect();
            assert_eq!(numbers, (20..20 + many).collect::<Vec<_>>());
            let here = thread::current().id();
            assert!(done.iter().all(|done| done.1.is_some_and(|by| by != here)));
        }
    }

    #[test]
    fn without_threads_all_is_done_here_in_the_same_order() {
        // No machine has the memory for its stack.
        let hands = InTurn::of(|| Builder::new().stack_size(1 << 60));
        let done = worked_on(hands, 20..31);
        let here = Some(thread::current().id());
        assert!(done.iter().all(|done| done.1 == here));
        let numbers: Vec<_> = done.iter().map(|done| done.0).collect();
        assert_eq!(numbers, (20..31).collect::<Vec<_>>());
    }

    #[test]
    fn a_panic_of_a_thread_is_not_lost() {
        for numbers in [10..14, 10..15, 10..40] {
            let ended = catch_unwind(AssertUnwindSafe(|| worked_on(InTurn::new(), numbers)));
            assert!(ended.is_err());
        }
    }
}
