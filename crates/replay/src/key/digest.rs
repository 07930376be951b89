//! Digests of texts: the same in every run and on every machine.

use std::fmt;

/// Tells texts apart: FNV-1a of 128 bits. Whoever makes two requests collide on purpose gets the
/// one compared with the other, and sees that they differ.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(u128);

impl Digest {
    pub fn of(text: &[u8]) -> Self {
        let mut digesting = Digesting::default();
        digesting.push(text);
        digesting.finish()
    }
}

/// A digest of a text that comes in pieces.
#[derive(Debug)]
pub struct Digesting(Fnv);

impl Default for Digesting {
    fn default() -> Self {
        Self(Fnv(Fnv::BASIS))
    }
}

impl Digesting {
    pub fn push(&mut self, piece: &[u8]) {
        self.0.add(piece);
    }

    pub fn finish(self) -> Digest {
        Digest(self.0.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The state of FNV-1a with 128 bits.
#[derive(Debug)]
struct Fnv(u128);

impl Fnv {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(Self::PRIME);
        }
    }
}
