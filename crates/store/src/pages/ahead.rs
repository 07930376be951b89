//! Reads the next page while the one before is gone through.

use super::Pager;
use crate::reader::{ReadError, Recording};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// A thread with a connection of its own. It holds one page, and waits until that is taken.
#[derive(Debug)]
pub(super) struct Ahead<T> {
    /// Gone as soon as nobody wants more: then the thread ends.
    read: Option<Receiver<Result<T, ReadError>>>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Send + 'static> Ahead<T> {
    /// Goes on from where `pager` is; `None` where there cannot be such a thread.
    pub fn start<P: Pager<Page = T>>(pager: &P, recording: &Recording) -> Option<Self> {
        let recording = recording.another().ok()?;
        recording.keep_little().ok()?;
        let (sender, read) = sync_channel(0);
        let pager = pager.clone();
        let builder = Builder::new().name("read-ahead".into());
        let thread = builder.spawn(move || run(pager, &recording, &sender));
        Some(Self {
            read: Some(read),
            thread: Some(thread.ok()?),
        })
    }

    /// The next page; `None` after the last one, or after what went wrong.
    pub fn next(&mut self) -> Result<Option<T>, ReadError> {
        match self.read.as_ref().map(Receiver::recv) {
            Some(Ok(page)) => page.map(Some),
            // A thread that panicked has not come to the end.
            Some(Err(_)) => self
                .join()
                .map_or_else(|panic| resume_unwind(panic), |()| Ok(None)),
            None => Ok(None),
        }
    }
}

impl<T> Ahead<T> {
    fn join(&mut self) -> std::thread::Result<()> {
        self.read = None;
        self.thread.take().map_or(Ok(()), JoinHandle::join)
    }
}

fn run<P: Pager>(
    mut pager: P,
    recording: &Recording,
    sender: &SyncSender<Result<P::Page, ReadError>>,
) {
    while let Some(page) = pager.next(recording).transpose() {
        let is_last = page.is_err();
        if sender.send(page).is_err() || is_last {
            return;
        }
    }
}

impl<T> Drop for Ahead<T> {
    /// What the thread reads may be gone with the recording.
    fn drop(&mut self) {
        // If it panicked, that was said, or nobody needs what it read.
        let _ = self.join();
    }
}
