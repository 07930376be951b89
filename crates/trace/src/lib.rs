//! What the traffic means. Pure: frames and events in order go in, exchanges and sessions come out.
//!
//! * [`analysis`]: the fold that derives everything from frames and events;
//! * [`bounded`]: a map that forgets;
//! * [`clock`]: one anchor of monotonic and wall time; everything else takes time as an argument;
//! * [`frame`], [`event`]: what is on record; [`exchange`]: what is derived from it;
//! * [`correlator`]: pairs requests with responses, both directions, both eras;
//! * [`item`]: the rows that a session is shown as;
//! * [`session`]: who spoke, which versions and capabilities, in which phase it is;
//! * [`state`]: what was true at a moment;
//! * [`stats`]: latencies per method and per tool.

pub mod analysis;
pub mod bounded;
pub mod clock;
pub mod correlator;
pub mod event;
pub mod exchange;
pub mod frame;
pub mod item;
pub mod query;
pub mod session;
pub mod state;
pub mod stats;
