//! The built-in host and server: traffic worth looking at, without anything installed.
//!
//! ```text
//!  mcpreel demo-host ──▶ mcpreel run ──▶ mcpreel demo-server
//! ```
//!
//! They are real processes that speak MCP (revision 2025-11-25) over real pipes, so that the demo
//! is recorded by the real recorder. The story: an assistant plans a trip with a weather server
//! that is helpful, slow, wrong, noisy and chatty in turn. About 15 seconds at normal speed.
//!
//! * [`server`]: the weather server;
//! * [`host`]: the host that starts it and follows a script;
//! * [`connection`]: one side of a JSON-RPC connection, used by both.

pub mod connection;
pub mod host;
pub mod server;

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
