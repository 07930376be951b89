//! Whether frames are looked at for what is known while more is learned.
//!
//! What is found in a frame for the first time may stand in those before as well: they are gone
//! over again. Those after it need not be, if it is looked for in them at once. To get ready for
//! that takes a while, the more the more is known, so it is not done again and again for nothing.

use crate::known::Known;

/// To get ready for so many values takes about as long as to look at a page of frames.
const OF_A_PAGE: u64 = 64;

/// How often what is known was got ready to be looked for, and whether that is worth it.
#[derive(Debug, Default)]
pub(super) struct Ready {
    times: u64,
    /// How often nothing new was known since something was.
    quiet: u64,
    grown: u64,
}

impl Ready {
    /// Looks for what is known from now on, if nothing new has come for as long as that takes, and
    /// longer each time. Returns how much is known if all of that is looked for.
    pub fn get(&mut self, known: &mut Known) -> Option<u64> {
        let is_new = self.grown != known.grown();
        self.quiet = if is_new {
            0
        } else {
            self.quiet.saturating_add(1)
        };
        self.grown = known.grown();
        let enough = self.times.max(self.grown / OF_A_PAGE);
        if !known.is_prepared() && self.quiet >= enough {
            known.prepare();
            self.times += 1;
        }
        known.is_prepared().then_some(self.grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Kind;

    #[test]
    fn what_is_known_is_looked_for_soon_and_not_anew_each_time() {
        let (mut ready, mut known) = (Ready::default(), Known::default());
        assert_eq!(ready.get(&mut known), Some(0));
        known.learn(b"first-secret", Kind::Secret);
        assert!(ready.get(&mut known).is_some());
        assert!(known.may_be_in(b"a first-secret"));
        let mut times = 0;
        for nth in 0..1000 {
            known.learn(format!("secret-number-{nth}").as_bytes(), Kind::Secret);
            times += u32::from(ready.get(&mut known).is_some());
            times += u32::from(ready.get(&mut known).is_some());
        }
        assert!(times < 5, "{times}");
        while ready.get(&mut known).is_none() {}
        assert!(known.may_be_in(b"secret-number-999"));
    }
}
