//! Private keys as `PuTTY` writes them: so many lines behind what says how many.
//!
//! ```text
//!  Private-Lines: 2
//!  AAAAgQC…
//!  AAAA…
//!  Private-MAC: …
//! ```

use crate::base::is_letter;
use crate::find::Finder;
use crate::hit::Found;
use crate::policy::id;
use crate::token::Kind;

/// What is said in front of their number.
pub(crate) const BEGIN: &str = "Private-Lines: ";

/// A longer line says something else.
const LINE: usize = 256;

const LEAST: usize = 32;

/// How many lines follow in a text, at `at`, and where they begin.
pub(super) fn lines_at(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let after = text[at..].strip_prefix(BEGIN.as_bytes())?;
    let digits = after
        .iter()
        .take(4)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let count = std::str::from_utf8(&after[..digits]).ok()?.parse().ok()?;
    let start = past_newline(text, at + BEGIN.len() + digits)?;
    Some((count, start))
}

/// How many lines follow this one, which is a frame.
pub(super) fn lines_in(line: &[u8]) -> Option<usize> {
    let is_short = line.len() < LINE && line.trim_ascii_end().last()?.is_ascii_digit();
    if !is_short {
        return None;
    }
    let at = memchr::memmem::find(line, BEGIN.as_bytes())?;
    let (count, start) = lines_at(line, at)?;
    (start == line.len()).then_some(count)
}

pub(super) fn find(
    finder: &Finder<'_>,
    text: &[u8],
    (count, start): (usize, usize),
    found: &mut Found,
) {
    let (mut at, mut end, mut value) = (start, start, Vec::new());
    for _ in 0..count {
        let letters = text[at..].iter().take(LINE);
        let letters = letters
            .take_while(|byte| is_letter(**byte) || **byte == b'=')
            .count();
        value.extend_from_slice(&text[at..at + letters]);
        end = at + letters;
        match past_newline(text, end).filter(|_| letters > 0) {
            Some(next) => at = next,
            None => break,
        }
    }
    if value.len() >= LEAST {
        finder.add_value(start..end, value.into(), id::PEM, Kind::Secret, found);
    }
}

/// Behind a newline, spelled out or escaped, that begins at `at`.
fn past_newline(text: &[u8], at: usize) -> Option<usize> {
    let ends: [&[u8]; 4] = [b"\r\n", b"\n", b"\\r\\n", b"\\n"];
    let rest = text.get(at..)?;
    let end = ends.iter().find(|end| rest.starts_with(end))?;
    Some(at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_what_says_how_many() {
        let text = b"x Private-Lines: 12\r\nAAAA\n";
        assert_eq!(lines_at(text, 2), Some((12, 21)));
        assert_eq!(lines_in(b"log: Private-Lines: 3\n"), Some(3));
        for line in [
            "Private-Lines: ",
            "Private-Lines: 3 of 4\n",
            "Private-Lines: 3\nAAAA",
        ] {
            assert_eq!(lines_in(line.as_bytes()), None, "{line}");
        }
    }
}
