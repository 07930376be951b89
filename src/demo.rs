//! The built-in host and server: traffic worth looking at, without anything installed.
//!
//! ```text
//!  mcpreel demo-host ──▶ mcpreel run ──▶ mcpreel demo-server
//! ```
//!
//! They are real processes that speak MCP (revision 2025-11-25) over real pipes, so that the demo
//! is recorded by the real recorder. The story: an assistant plans a trip with a weather server
//! that is helpful, slow, wrong, noisy and chatty in turn. Some 13 seconds at normal speed.
//!
//! * [`server`]: the weather server; `tools`: its tools;
//! * [`host`]: the host that starts it and follows a script.

pub mod host;
pub mod server;
mod tools;

use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The revision of MCP that both sides speak.
pub const PROTOCOL_VERSION: &str = "2025-11-25";

/// How fast the story is told: all its pauses are divided by this.
#[derive(Clone, Copy, Debug)]
pub struct Pace(u32);

impl Pace {
    /// `speed` times as fast as the story is meant to be; zero counts as one.
    pub fn new(speed: u32) -> Self {
        Self(speed.max(1))
    }

    /// How long a pause of `millis` takes at this pace.
    pub fn of(self, millis: u64) -> Duration {
        Duration::from_millis(millis) / self.0
    }

    pub fn pause(self, millis: u64) {
        std::thread::sleep(self.of(millis));
    }
}

/// The lock of a value that stays usable although a thread panicked while it held it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A result, or the code and the message of an error.
pub type Answer = Result<Value, (i64, String)>;

/// One side of a JSON-RPC connection, shared by its threads. That the other side has gone is noticed
/// by whoever reads from it, so failed writes are no errors.
pub struct Connection<'a> {
    out: Mutex<Option<Box<dyn Write + Send + 'a>>>,
    requests: Mutex<Requests>,
}

struct Requests {
    last_id: u64,
    /// Who waits for which answer; none once the other side has gone.
    waiting: Option<HashMap<u64, SyncSender<Value>>>,
}

impl<'a> Connection<'a> {
    /// A connection that writes to `out`. Ids count from 1.
    pub fn new(out: impl Write + Send + 'a) -> Self {
        Self {
            out: Mutex::new(Some(Box::new(out))),
            requests: Mutex::new(Requests {
                last_id: 0,
                waiting: Some(HashMap::new()),
            }),
        }
    }

    /// Sends a request: its id, and where the response comes, a whole JSON-RPC object. The channel
    /// is closed when the other side has gone.
    pub fn request(&self, method: &str, params: &Value) -> (u64, Receiver<Value>) {
        let (sender, answer) = sync_channel(1);
        let mut requests = lock(&self.requests);
        requests.last_id += 1;
        let id = requests.last_id;
        if let Some(waiting) = &mut requests.waiting {
            waiting.insert(id, sender);
        }
        drop(requests);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        (id, answer)
    }

    pub fn notify(&self, method: &str, params: Option<&Value>) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if let Some(params) = params {
            message["params"] = params.clone();
        }
        self.send(&message);
    }

    pub fn respond(&self, id: &Value, answer: Answer) {
        let mut message = json!({"jsonrpc": "2.0", "id": id});
        match answer {
            Ok(result) => message["result"] = result,
            Err((code, text)) => message["error"] = json!({"code": code, "message": text}),
        }
        self.send(&message);
    }

    fn send(&self, message: &Value) {
        self.noise(&message.to_string());
    }

    /// Writes a line that need not be a message.
    pub fn noise(&self, line: &str) {
        if let Some(out) = &mut *lock(&self.out) {
            let written = out.write_all(format!("{line}\n").as_bytes());
            let _ = written.and_then(|()| out.flush());
        }
    }

    pub fn close(&self) {
        *lock(&self.out) = None;
    }

    /// Hands a response to whoever waits for it.
    pub fn settle(&self, response: Value) {
        let id = response["id"].as_u64().unwrap_or_default();
        let waiting = &mut lock(&self.requests).waiting;
        if let Some(waiting) = waiting.as_mut().and_then(|waiting| waiting.remove(&id)) {
            // Whoever cancelled no longer waits.
            let _ = waiting.try_send(response);
        }
    }

    /// The other side has gone: nobody waits any longer, now or later.
    pub fn end(&self) {
        lock(&self.requests).waiting = None;
    }
}
