//! The codings of a body undone (RFC 9110 section 8.4), as its bytes come.

use super::head::Head;
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use std::io::{self, Write};

/// Bytes that a body is unpacked to: beyond that it is there to harm.
const MOST: u64 = 256 << 20;

/// Unpacks one body.
pub struct Coding {
    way: Way,
    unpacked: u64,
}

enum Way {
    Plain,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
}

impl Coding {
    /// That of the body behind `head`. A coding that is not known stays as it is.
    pub fn of(head: &Head) -> Self {
        let codings = head.list("content-encoding");
        let way = match codings.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["gzip" | "x-gzip"] => Way::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            ["deflate"] => Way::Deflate(Box::new(ZlibDecoder::new(Vec::new()))),
            _ => Way::Plain,
        };
        let unpacked = 0;
        Self { way, unpacked }
    }

    /// Whether bytes pass as they are.
    pub fn is_plain(&self) -> bool {
        matches!(self.way, Way::Plain)
    }

    /// What is known of the content after these bytes of it. An error: the rest cannot be unpacked.
    pub fn push(&mut self, packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        // In pieces, so that what unpacks to a thousand times its size is noticed in time.
        for part in packed.chunks(4096) {
            let unpacked = match &mut self.way {
                Way::Plain => part.to_vec(),
                Way::Gzip(decoder) => {
                    decoder.write_all(part)?;
                    decoder.flush()?;
                    std::mem::take(decoder.get_mut())
                }
                Way::Deflate(decoder) => {
                    decoder.write_all(part)?;
                    decoder.flush()?;
                    std::mem::take(decoder.get_mut())
                }
            };
            self.unpacked += unpacked.len() as u64;
            if self.unpacked > MOST && !self.is_plain() {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            out.extend(unpacked);
        }
        Ok(out)
    }
}
