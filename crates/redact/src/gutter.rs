//! What stands in front of the lines of a listing: their numbers, or how they were changed.
//!
//! ```text
//!    12 | password: |        12:password: |        +password: |
//!    13 |   the value        13-  the value        +  the value
//! ```

/// What stands in front of each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gutter {
    Nothing,
    /// How it was changed, or that it is quoted.
    Sign(u8),
    Number,
}

/// What divides the number of a line from it.
const SIGNS: [&str; 6] = [":", "|", "-", "\t", "→", "│"];

impl Gutter {
    pub fn of(line: &[u8]) -> Self {
        match line {
            // A hyphen in front of white space begins an item of a list.
            [sign @ (b'+' | b'>'), ..] => Self::Sign(*sign),
            [b'-', next, ..] if !next.is_ascii_whitespace() && *next != b'-' => Self::Sign(b'-'),
            _ if number(line).is_some() => Self::Number,
            _ => Self::Nothing,
        }
    }

    /// How many bytes of a line it takes, if the line has one like this.
    pub fn length(self, line: &[u8]) -> Option<usize> {
        match self {
            Self::Nothing => Some(0),
            Self::Sign(sign) => line.starts_with(&[sign]).then_some(1),
            Self::Number => number(line),
        }
    }
}

fn number(line: &[u8]) -> Option<usize> {
    let line = &line[..line.len().min(32)];
    let space = |at: usize| line[at..].iter().take_while(|byte| **byte == b' ').count();
    let start = space(0);
    let digits = line[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    let end = start + digits.count();
    let at = end + space(end);
    let sign = SIGNS
        .iter()
        .find(|sign| line[at..].starts_with(sign.as_bytes()))?;
    (end > start).then_some(at + sign.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_signs_stand_in_front_of_lines() {
        for (line, gutter, length) in [
            ("  12 | a", Gutter::Number, 6),
            ("12:a", Gutter::Number, 3),
            ("   7\ta", Gutter::Number, 5),
            ("   7→a", Gutter::Number, 7),
            ("+a", Gutter::Sign(b'+'), 1),
            ("-a", Gutter::Sign(b'-'), 1),
            ("- a", Gutter::Nothing, 0),
            ("12 a", Gutter::Nothing, 0),
            ("", Gutter::Nothing, 0),
        ] {
            let of = Gutter::of(line.as_bytes());
            assert_eq!(of, gutter, "{line}");
            assert_eq!(of.length(line.as_bytes()), Some(length), "{line}");
        }
        assert_eq!(Gutter::Number.length(b"a"), None);
    }
}
