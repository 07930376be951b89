//! Where a message stands.

use mcpreel_trace::frame::Seq;
use std::fmt;

/// A message by its frame and its place in a batch. Small, because there are many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    seq: u32,
    pub part: u32,
}

impl Place {
    /// The message `part` of the frame `seq`. A recording of four thousand million frames would
    /// fill disks; the frames after that are not found.
    pub fn new(seq: Seq, part: u32) -> Self {
        let seq = u32::try_from(seq.0).unwrap_or(u32::MAX);
        Self { seq, part }
    }

    pub fn seq(self) -> Seq {
        Seq(u64::from(self.seq))
    }

    /// The place that [`fmt::Display`] writes so.
    pub fn parse(text: &str) -> Option<Self> {
        let (seq, part) = text.split_once('.')?;
        let number = |text: &str| -> Option<u32> {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| text.parse().ok()).flatten()
        };
        Some(Self {
            seq: number(seq)?,
            part: number(part)?,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.seq, self.part)
    }
}
