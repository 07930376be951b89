//! What is known of the two sides, and of the streams between them.

use crate::clock::Moment;
use mcpreel_wire::message::Identity;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// `name` of `clientInfo` or `serverInfo`.
    pub name: Option<Box<str>>,
    pub version: Option<Box<str>>,
    /// `capabilities`, JSON text as on the wire.
    pub capabilities: Option<Box<str>>,
}

/// When the first byte of each stream was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstByte {
    pub c2s: Option<Moment>,
    pub s2c: Option<Moment>,
    pub stderr: Option<Moment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Host,
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed {
    pub by: Side,
    #[serde(rename = "t_ns")]
    pub t: Moment,
}

/// The ends of the two streams of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ends {
    pub c2s: Option<Closed>,
    pub s2c: Option<Closed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub max_rss_bytes: u64,
    /// CPU time in user mode, nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, nanoseconds.
    pub system_ns: u64,
}

impl Usage {
    /// Whether somebody has measured it.
    pub(super) fn is_known(self) -> bool {
        self.max_rss_bytes > 0 || self.user_ns > 0 || self.system_ns > 0
    }
}

impl Peer {
    /// What is said later counts, what is no longer said stays.
    pub(super) fn learn(&mut self, identity: &Identity) {
        let pairs = [
            (&mut self.name, &identity.name),
            (&mut self.version, &identity.version),
            (&mut self.capabilities, &identity.capabilities),
        ];
        for (known, said) in pairs {
            if said.is_some() && known != said {
                known.clone_from(said);
            }
        }
    }
}
