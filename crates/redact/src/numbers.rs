//! Which token stands for which value.
//!
//! ```text
//!  hunter2                  ‹secret:1›
//!  hunter2 in base64        ‹coded:1›      the first text that says it in some code
//!  ada:hunter2 in base64    ‹coded-2:1›    the second one
//! ```
//!
//! What stands in a code is another value than what it says: whoever puts the one in place of the
//! other says something else. Its number tells what is in it.

use super::token::{Kind, Token, names_in};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashMap};

/// Values with a number of their own; beyond, numbers are made of what the values are.
const MOST: usize = 200_000;

/// Placeholders in the bytes whose numbers are left out.
const MOST_TAKEN: usize = 100_000;

/// Numbers of values beyond [`MOST`] begin here; no placeholder of ours gets so far.
const FAR: u64 = 1 << 40;

type Hash = [u8; 16];

/// The tokens of values. What a token counts is its place among all, until it is shown.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    tokens: HashMap<Hash, Token>,
    /// In the order in which they got one.
    order: Vec<Hash>,
    places: u64,
    /// How many texts say what has this place, in some code.
    codes: HashMap<u64, u64>,
    /// The number that each place is shown with, once it is known which ones are taken.
    shown: Vec<u64>,
    next: u64,
    taken: BTreeSet<u64>,
    /// What numbers beyond the limit are made of besides the values: nobody can guess it.
    salt: Sha256,
    /// Values without a number of their own.
    pub beyond: u64,
}

#[derive(Clone, Debug)]
pub struct Mark {
    values: usize,
    places: u64,
    salt: Sha256,
}

impl Numbers {
    /// Leaves out the numbers of the placeholders that stand in these bytes, if there may be some.
    pub fn take_out(&mut self, bytes: &[u8]) {
        let mut names = BTreeSet::new();
        names_in(bytes, MOST_TAKEN, &mut names);
        let numbers = names.iter().filter_map(|name| name.rsplit(':').next());
        let numbers = numbers.filter_map(|number| number.parse::<u64>().ok());
        let room = MOST_TAKEN.saturating_sub(self.taken.len());
        self.taken.extend(numbers.take(room));
    }

    /// The token of a value; of one that is new a new one.
    pub fn of(&mut self, value: &[u8], kind: Kind) -> Token {
        self.found(value, kind, Self::fresh)
    }

    /// The token of a text that says a value in some code.
    pub fn of_coded(&mut self, text: &[u8], (value, kind): (&[u8], Kind)) -> Token {
        if text == value {
            return self.of(value, kind);
        }
        self.found(text, kind, |numbers, kind| {
            let plain = numbers.of(value, kind);
            let codes = numbers.codes.entry(plain.number).or_default();
            *codes += 1;
            Token {
                code: *codes,
                ..plain
            }
        })
    }

    /// The token that a value has, else what `make` makes.
    fn found(
        &mut self,
        value: &[u8],
        kind: Kind,
        make: impl FnOnce(&mut Self, Kind) -> Token,
    ) -> Token {
        let hash = hash(value);
        if let Some(token) = self.tokens.get(&hash) {
            return *token;
        }
        if self.tokens.len() >= MOST {
            self.beyond += 1;
            return self.far(value, kind);
        }
        let token = make(self, kind);
        self.tokens.insert(hash, token);
        self.order.push(hash);
        self.salt.update(value);
        token
    }

    fn fresh(&mut self, kind: Kind) -> Token {
        let number = self.places;
        self.places += 1;
        Token {
            kind,
            number,
            code: 0,
        }
    }

    fn far(&self, value: &[u8], kind: Kind) -> Token {
        let digest = self.salt.clone().chain_update(value).finalize();
        let number = digest
            .iter()
            .take(6)
            .fold(0, |number, byte| number << 8 | u64::from(*byte));
        Token {
            kind,
            number: FAR + number,
            code: 0,
        }
    }

    /// Whether exactly this value has one.
    pub fn has(&self, value: &[u8]) -> bool {
        self.tokens.contains_key(&hash(value))
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    pub fn mark(&self) -> Mark {
        Mark {
            values: self.order.len(),
            places: self.places,
            salt: self.salt.clone(),
        }
    }

    /// Takes back all that were given since; whether there were some.
    pub fn back_to(&mut self, mark: &Mark) -> bool {
        let is_more = self.order.len() > mark.values;
        for hash in self.order.drain(mark.values.min(self.order.len())..) {
            let token = self.tokens.remove(&hash);
            let token = token.filter(|token| token.code > 0);
            if let Some(codes) = token.and_then(|token| self.codes.get_mut(&token.number)) {
                *codes -= 1;
            }
        }
        self.places = mark.places;
        self.salt.clone_from(&mark.salt);
        is_more
    }

    /// The token as it is shown: with a number that no placeholder had before.
    pub fn shown(&mut self, token: Token) -> Token {
        while token.number < FAR && self.shown.len() as u64 <= token.number {
            self.next += 1;
            while self.taken.contains(&self.next) {
                self.next += 1;
            }
            self.shown.push(self.next);
        }
        let place = usize::try_from(token.number).ok();
        let number = place.and_then(|place| self.shown.get(place));
        Token {
            number: number.copied().unwrap_or(token.number),
            ..token
        }
    }
}

fn hash(value: &[u8]) -> Hash {
    let digest = Sha256::digest(value);
    let mut hash = [0; 16];
    hash.copy_from_slice(&digest[..16]);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_stand_there_already_are_left_out() {
        let mut numbers = Numbers::default();
        numbers.take_out("‹secret:1› \\u2039coded:3\\u203a".as_bytes());
        let given = ["a", "b", "a", "c"].map(|value| numbers.of(value.as_bytes(), Kind::Secret));
        let shown = given.map(|token| numbers.shown(token).number);
        assert_eq!(shown, [2, 4, 2, 5]);
    }

    #[test]
    fn what_says_a_value_in_a_code_has_its_number_and_each_text_a_token() {
        let mut numbers = Numbers::default();
        let plain = (&b"hunter2"[..], Kind::Secret);
        let mut given = |text: &str| {
            let token = numbers.of_coded(text.as_bytes(), plain);
            numbers.shown(token).to_string()
        };
        let (one, other) = ("aHVudGVyMg==", "YWRhOmh1bnRlcjI=");
        let tokens = [one, other, one, "hunter2"].map(&mut given);
        assert_eq!(
            tokens,
            ["‹coded:1›", "‹coded-2:1›", "‹coded:1›", "‹secret:1›"]
        );
    }

    #[test]
    fn what_is_taken_back_is_given_again_in_another_order() {
        let mut numbers = Numbers::default();
        let plain = (&b"hunter2"[..], Kind::Secret);
        numbers.of_coded(b"x", plain);
        let mark = numbers.mark();
        let mut given = |texts: [&[u8]; 3]| {
            numbers.back_to(&mark);
            texts.map(|text| numbers.of_coded(text, plain).code)
        };
        assert_eq!(given([b"a", b"b", b"x"]), [2, 3, 1]);
        assert_eq!(given([b"b", b"a", b"x"]), [2, 3, 1]);
        assert_eq!(numbers.len(), 4);
        assert!(numbers.back_to(&mark) && !numbers.back_to(&mark));
    }

    #[test]
    fn beyond_the_limit_equal_values_have_equal_numbers() {
        let mut numbers = Numbers::default();
        numbers.of(b"what nobody knows", Kind::Secret);
        let far = |value: &str| numbers.far(value.as_bytes(), Kind::Secret);
        assert_eq!(far("a"), far("a"));
        assert_ne!(far("a"), far("b"));
        assert!(far("a").number >= FAR);
    }
}
