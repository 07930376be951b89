//! How much work a regular expression can be, from its text alone.

/// States of the largest expression that is used. More of them take milliseconds to compile.
const STATES: u64 = 8_192;

/// Bytes in which the end of a counted repetition is looked for. Without a limit an expression of
/// nothing but braces would be read to its end for each of them.
const COUNTED: usize = 24;

/// Steps back that the backtracking engine may take for one text. An honest expression needs a
/// few hundred; one that needs more is given up, and that is told.
pub const STEPS: usize = 5_000;

/// What a regular expression costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// About so many states are visited for each byte at most.
    pub states: u64,
    /// Whether it needs the engine that can go back, as look-around and back references do.
    pub backtracks: bool,
}

/// The weight of `pattern`; `None` where it is too much to be compiled.
pub fn weight(pattern: &str) -> Option<Weight> {
    let mut scan = Scan::default();
    let mut rest = pattern.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = scan.step(first, after);
        if scan.total > STATES {
            return None;
        }
    }
    while scan.outer.len() > 1 {
        scan.close();
    }
    let states = scan.total.saturating_add(scan.outer.iter().sum());
    (states <= STATES).then_some(Weight {
        states: states.max(1),
        backtracks: scan.backtracks,
    })
}

#[derive(Default)]
struct Scan {
    /// States of the groups that are open around this one.
    outer: Vec<u64>,
    total: u64,
    /// States of what a quantifier would repeat.
    last: u64,
    quantified: bool,
    backtracks: bool,
}

impl Scan {
    /// Takes in what begins with `first`; returns what comes after it.
    fn step<'p>(&mut self, first: u8, rest: &'p [u8]) -> &'p [u8] {
        let was_quantified = std::mem::take(&mut self.quantified);
        match first {
            b'\\' => return self.escape(rest),
            b'[' => return self.class(rest),
            b'(' => {
                self.outer.push(self.total);
                self.total = 1;
                self.backtracks |= rest.starts_with(b"?") && !rest.starts_with(b"?:");
            }
            b')' => self.close(),
            b'{' => return self.counted(rest),
            // `a++` does not give back what it has taken.
            b'+' if was_quantified => self.backtracks = true,
            b'*' | b'+' | b'?' => self.quantified = true,
            b'.' => self.atom(3),
            _ => self.atom(1),
        }
        rest
    }

    fn atom(&mut self, states: u64) {
        self.total = self.total.saturating_add(states);
        self.last = states;
    }

    fn close(&mut self) {
        let inner = std::mem::take(&mut self.total);
        self.total = self.outer.pop().unwrap_or_default();
        self.atom(inner);
    }

    fn escape<'p>(&mut self, rest: &'p [u8]) -> &'p [u8] {
        let Some((&kind, rest)) = rest.split_first() else {
            return rest;
        };
        match kind {
            // A class of Unicode has hundreds of ranges.
            b'p' | b'P' => self.atom(500),
            b'S' | b'W' | b'D' | b's' => self.atom(3),
            b'1'..=b'9' | b'k' | b'K' | b'G' | b'g' => {
                self.backtracks = true;
                self.atom(1);
            }
            _ => self.atom(1),
        }
        rest
    }

    fn class<'p>(&mut self, rest: &'p [u8]) -> &'p [u8] {
        let mut at = usize::from(rest.first() == Some(&b'^'));
        let mut states = if at == 1 { 3 } else { 1 };
        while let Some(&byte) = rest.get(at) {
            match byte {
                b']' => break,
                b'\\' => {
                    let named = matches!(rest.get(at + 1), Some(b'p' | b'P'));
                    states += if named { 500 } else { 0 };
                    at += 1;
                }
                0x80.. => states += 1,
                _ => {}
            }
            at += 1;
        }
        self.atom(states);
        rest.get(at + 1..).unwrap_or_default()
    }

    /// `{3}`, `{3,}` or `{3,5}`; any other brace is a character.
    fn counted<'p>(&mut self, rest: &'p [u8]) -> &'p [u8] {
        let near = &rest[..rest.len().min(COUNTED)];
        let end = near.iter().position(|byte| *byte == b'}');
        let is_count = |byte: &u8| matches!(byte, b'0'..=b'9' | b',' | b'+');
        if end.is_none() && near.len() == COUNTED && near.iter().all(is_count) {
            // Who knows how often: it is not an honest one.
            self.atom(STATES + 1);
            return rest;
        }
        let inner = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok());
        let bounds = inner.map(|inner| inner.split(',').filter(|bound| !bound.is_empty()));
        let counts =
            bounds.map(|bounds| bounds.map(str::parse::<u64>).collect::<Result<Vec<_>, _>>());
        let (Some(end), Some(Ok(counts))) = (end, counts) else {
            self.atom(1);
            return rest;
        };
        let times = counts.into_iter().max().unwrap_or(1).max(1);
        let more = self.last.saturating_mul(times - 1);
        self.total = self.total.saturating_add(more);
        self.last = self.last.saturating_mul(times);
        self.quantified = true;
        &rest[end + 1..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_is_too_long_to_be_read_is_too_much() {
        let padded = |zeros| format!("a{{{}9}}", "0".repeat(zeros));
        assert_eq!(weight(&padded(10)).map(|weight| weight.states), Some(9));
        assert_eq!(weight(&padded(40)), None);
    }

    #[test]
    fn a_brace_whose_end_is_far_away_is_a_character() {
        let far = format!("{{{}}}", "x".repeat(40));
        assert_eq!(weight(&far).map(|weight| weight.states), Some(42));
        let braces = "{".repeat(STATES.try_into().unwrap());
        assert_eq!(weight(&braces).map(|weight| weight.states), Some(STATES));
        assert_eq!(weight(&"{".repeat(60_000)), None);
    }
}
