//! Files of which the bytes say nothing of what is in them.

use mcpreel_capture::spool::open_regular;
use std::io::Read as _;
use std::path::Path;

/// Bytes that tell.
const LONGEST: u64 = 6;

/// What packed files begin with.
const PACKED: [(&[u8], &str); 8] = [
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"PK\x07\x08", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
];

/// What the file is packed as, if its first bytes say so. What cannot be read is told by whoever
/// looks through it.
pub fn kind(path: &Path) -> Option<&'static str> {
    let mut begin = Vec::new();
    let file = open_regular(path, false).ok()?;
    file.take(LONGEST).read_to_end(&mut begin).ok()?;
    let found = PACKED.iter().find(|(magic, _)| begin.starts_with(magic));
    found.map(|(_, kind)| *kind)
}
