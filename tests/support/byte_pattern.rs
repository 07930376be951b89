//! One line of any length whose bytes are known without keeping them. Shared by the tests and the
//! peer.

use std::io::{self, Read, Write};

/// A prime, so that no buffer of a round size begins with the same byte twice.
const PERIOD: usize = 65_521;

/// The bytes that repeat.
fn period() -> Vec<u8> {
    (0..PERIOD)
        .map(|at| b'!' + u8::try_from(at * 7 % 89).expect("it is below 89"))
        .collect()
}

/// Writes a line of `size` bytes, its terminator included.
pub fn write(mut sink: impl Write, size: usize) -> io::Result<()> {
    let period = period();
    let mut left = size - 1;
    while left > 0 {
        let part = &period[..left.min(PERIOD)];
        sink.write_all(part)?;
        left -= part.len();
    }
    sink.write_all(b"\n")?;
    sink.flush()
}

/// Reads to the end, and says whether it was exactly the line of `size` bytes.
pub fn is_read_from(mut source: impl Read, size: usize) -> io::Result<bool> {
    let (period, mut part, mut at) = (period(), vec![0; PERIOD], 0);
    while at < size - 1 {
        // Never over the end of the period, so that the comparison is one of slices.
        let room = (PERIOD - at % PERIOD).min(size - 1 - at);
        let got = source.read(&mut part[..room])?;
        if got == 0 || part[..got] != period[at % PERIOD..][..got] {
            return Ok(false);
        }
        at += got;
    }
    let mut end = Vec::new();
    source.read_to_end(&mut end)?;
    Ok(end == b"\n")
}
