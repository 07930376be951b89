//! Numbers that look random and can be had again.

/// `SplitMix64`: one multiplication or two per number, any seed is a good one.
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// From a seed that nobody has chosen.
    pub fn shaken() -> Self {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).expect("the kernel has random numbers");
        Self(u64::from_ne_bytes(seed))
    }

    /// A length below `limit`.
    pub fn length_below(&mut self, limit: usize) -> usize {
        usize::try_from(self.below(limit as u64)).expect("it is below a length")
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}
