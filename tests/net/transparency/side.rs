//! One side of a connection, which plays its part of a script.

use super::script::Step;
use crate::support::proxy::close_by_reset;
use crate::support::wait_for;
use std::io::{ErrorKind, Read as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// No wait takes longer on a busy machine, unless the program is broken.
pub const DEADLINE: Duration = Duration::from_mins(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Whole,
    Reset,
}

#[derive(Default)]
pub struct Received {
    pub bytes: Vec<u8>,
    pub end: Option<End>,
}

/// What a side receives, while it comes.
#[derive(Default)]
struct Inbox {
    received: Mutex<Received>,
    grown: Condvar,
}

impl Inbox {
    fn read(&self, mut socket: TcpStream) {
        let mut buffer = [0; 16 * 1024];
        let mut end = None;
        while end.is_none() {
            let read = socket.read(&mut buffer);
            let mut received = self.received.lock().unwrap();
            match read {
                Ok(0) => end = Some(End::Whole),
                Ok(n) => received.bytes.extend(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => end = Some(End::Reset),
            }
            received.end = end;
            self.grown.notify_all();
        }
    }

    /// Waits for so many bytes, or for the end.
    fn wait(&self, bytes: usize, what: &str) {
        let received = self.received.lock().unwrap();
        let lacks =
            |received: &mut Received| received.end.is_none() && received.bytes.len() < bytes;
        let waited = self.grown.wait_timeout_while(received, DEADLINE, lacks);
        let (received, waited) = waited.unwrap();
        let count = received.bytes.len();
        assert!(
            !waited.timed_out(),
            "{what}: {count} bytes came, then nothing"
        );
    }
}

/// Plays a side to its end; returns what it received, and how that ended.
pub fn play(socket: TcpStream, steps: Vec<Step>, met: &AtomicUsize, what: &str) -> Received {
    let inbox = Arc::new(Inbox::default());
    let reader = {
        let (socket, inbox) = (socket.try_clone().unwrap(), Arc::clone(&inbox));
        std::thread::spawn(move || inbox.read(socket))
    };
    let mut is_reset = false;
    for step in steps {
        match step {
            // The kernel tells of a reset once, whoever asks first.
            Step::Write(pieces) => is_reset |= pieces.write_to(&socket).is_err(),
            Step::Await(bytes) => inbox.wait(bytes, what),
            Step::Meet => {
                met.fetch_add(1, Ordering::Relaxed);
                wait_for(what, || (met.load(Ordering::Relaxed) == 2).then_some(()));
            }
            Step::AwaitEnd => inbox.wait(usize::MAX, what),
            Step::Shut => drop(socket.shutdown(Shutdown::Write)),
            Step::Reset => {
                close_by_reset(&socket);
                // The reader has a copy, which is to be closed first.
                socket.shutdown(Shutdown::Read).unwrap();
            }
        }
    }
    inbox.wait(usize::MAX, what);
    reader.join().unwrap();
    let mut received = std::mem::take(&mut *inbox.received.lock().unwrap());
    if is_reset {
        received.end = Some(End::Reset);
    }
    drop(socket);
    received
}
