//! JSON that stands within an HTML page.

use crate::text::is_hostile;
use serde::Serialize;
use std::io::{self, Write};

/// Bytes of a block of data; it ends with the value that makes it longer.
const BYTES: usize = 128 * 1024;

/// Data of one kind: an array in a block, or in several, one after the other.
pub(super) struct Blocks<'o, W: Write> {
    out: &'o mut W,
    kind: &'static str,
    text: Vec<u8>,
    /// The first and the last number in the block, where its values have one.
    numbers: Option<(u64, u64)>,
}

impl<'o, W: Write> Blocks<'o, W> {
    /// Nothing yet.
    pub fn new(out: &'o mut W, kind: &'static str) -> Self {
        let (text, numbers) = (Vec::new(), None);
        Self {
            out,
            kind,
            text,
            numbers,
        }
    }

    /// Adds a value.
    pub fn push(&mut self, value: &impl Serialize) -> io::Result<()> {
        if !self.text.is_empty() {
            self.text.extend_from_slice(b",\n");
        }
        json(value, &mut self.text)?;
        if self.text.len() >= BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds a value that is looked up by `number`; numbers only grow.
    pub fn push_at(&mut self, number: u64, value: &impl Serialize) -> io::Result<()> {
        let first = self.numbers.map_or(number, |(first, _)| first);
        self.numbers = Some((first, number));
        self.push(value)
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        let numbers = self.numbers.take().map_or(String::new(), |(first, last)| {
            format!(" data-first=\"{first}\" data-last=\"{last}\"")
        });
        let kind = self.kind;
        writeln!(
            self.out,
            "<script type=\"application/json\" data-kind=\"{kind}\"{numbers}>["
        )?;
        self.out.write_all(&self.text)?;
        self.text.clear();
        self.out.write_all(b"\n]</script>\n")
    }
}

/// Adds `value` as JSON in which nothing means anything to a browser, nor to somebody who reads
/// the source of the page.
fn json(value: &impl Serialize, into: &mut Vec<u8>) -> io::Result<()> {
    let text = serde_json::to_string(value).map_err(io::Error::from)?;
    let mut plain = 0;
    for (at, character) in text.char_indices() {
        // Outside of strings JSON has none of these.
        if !matches!(character, '<' | '>' | '&') && !is_hostile(character) {
            continue;
        }
        into.extend_from_slice(&text.as_bytes()[plain..at]);
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(into, "\\u{unit:04x}")?;
        }
        plain = at + character.len_utf8();
    }
    into.extend_from_slice(&text.as_bytes()[plain..]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const HOSTILE: &str = "</script><!-- <script>&amp;\u{2028}\u{2029}\u{202e}\u{feff}\u{9b}\u{7f}\
        \u{e0041}\0\u{1b}[2J\r\n\"'\\ ]]>";

    #[test]
    fn nothing_in_a_block_can_end_it_and_it_reads_back_as_it_was() {
        let mut text = Vec::new();
        json(&HOSTILE, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.is_ascii(), "{text}");
        let forbidden = ['<', '>', '&', '\0', '\u{1b}', '\r', '\n', '\u{7f}'];
        assert!(!text.contains(forbidden), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), HOSTILE);
    }

    #[test]
    fn ordinary_text_of_any_language_stays_readable() {
        let mut text = Vec::new();
        json(&"naïve 日本語 🌧 \"q\"", &mut text).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "\"naïve 日本語 🌧 \\\"q\\\"\""
        );
    }

    #[test]
    fn a_block_is_full_some_time_and_says_which_numbers_it_has() {
        let mut page = Vec::new();
        let mut blocks = Blocks::new(&mut page, "frames");
        let long = "x".repeat(BYTES / 2);
        for number in 1..=5 {
            blocks.push_at(number, &(number, &long)).unwrap();
        }
        blocks.finish().unwrap();
        let page = String::from_utf8(page).unwrap();
        let heads: Vec<_> = page.split("<script ").skip(1).collect();
        let numbers = [
            "1\" data-last=\"2",
            "3\" data-last=\"4",
            "5\" data-last=\"5",
        ];
        assert_eq!(heads.len(), numbers.len());
        for (block, numbers) in heads.iter().zip(numbers) {
            let (head, rest) = block.split_once('>').unwrap();
            assert!(head.contains(numbers), "{head}");
            let json = rest.strip_suffix("</script>\n").unwrap();
            let values: Value = serde_json::from_str(json).unwrap();
            assert!(values.as_array().is_some_and(|values| !values.is_empty()));
        }
    }

    #[test]
    fn no_data_is_no_block() {
        let mut page = Vec::new();
        Blocks::new(&mut page, "events").finish().unwrap();
        assert_eq!(page, b"");
    }
}
