//! What the traffic means. Pure: frames and events in order go in, exchanges and sessions come out.
//!
//! * [`analysis`]: the fold that derives everything from frames and events;
//! * [`bounded`]: a map that forgets;
//! * [`clock`]: one anchor of monotonic and wall time; everything else takes time as an argument;
//! * [`frame`], [`event`]: what is on record; [`exchange`]: what is derived from it;
//! * [`correlator`]: pairs requests with responses, both directions, both eras;
//! * [`http`]: requests and responses of HTTP; [`conversation`]: who talks to whom over many connections;
//! * [`item`]: the rows that a session is shown as;
//! * [`session`]: who spoke, which versions and capabilities, in which phase it is;
//! * [`state`]: what was true at a moment;
//! * [`stats`]: latencies per method and per tool.

/// An enum whose variants have a word, and a sentence about it for people.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal, $help:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = $help] $variant,)*
        }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The words of all of them, in the same order.
            pub const WORDS: &[&str] = &[$($word,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The words with their help, in the same order.
            pub const HELP: &[$crate::query::help::Entry] =
                &[$(($word, $help),)*];

            pub fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }

            /// The one that [`Self::as_str`] writes so.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == word)
            }
        }
    };
}

pub mod analysis;
pub mod bounded;
pub mod clock;
pub mod conversation;
pub mod correlator;
pub mod event;
pub mod exchange;
pub mod frame;
pub mod http;
pub mod item;
pub mod query;
pub mod session;
pub mod state;
pub mod stats;
