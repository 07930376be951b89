//! Texts that people or models are shown: what in them acts on a terminal, and what in them
//! nobody sees.

use crate::quote;
use mcpreel_wire::json::Value;

/// Characters around a place that a finding shows.
const BEFORE: usize = 20;
const SHOWN: usize = 60;

#[derive(Debug, Default)]
pub(super) struct Remarks {
    /// Control characters other than tab and line ends.
    pub control: Option<Remark>,
    /// Characters without ink, and those that change the order of reading.
    pub hidden: Option<Remark>,
}

/// Characters of one kind in one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Remark {
    first: char,
    at: usize,
    more: usize,
}

/// Looks at the characters of a string.
pub(super) fn look(text: Value<'_>) -> Remarks {
    let mut remarks = Remarks::default();
    if !may_hide(text) {
        return remarks;
    }
    let mut chars = text.chars().peekable();
    let (mut before, mut in_flag, mut at) = (None, false, 0);
    while let Some(char) = chars.next() {
        in_flag = char == BLACK_FLAG || in_flag && is_tag(char);
        let remark = if char.is_control() {
            (!matches!(char, '\n' | '\t' | '\r')).then_some(&mut remarks.control)
        } else if !char.is_ascii() && hides(char, before, chars.peek().copied(), in_flag) {
            Some(&mut remarks.hidden)
        } else {
            None
        };
        match remark {
            Some(Some(remark)) => remark.more += 1,
            Some(none) => {
                *none = Some(Remark {
                    first: char,
                    at,
                    more: 0,
                });
            }
            None => {}
        }
        before = Some(char);
        at += 1;
    }
    remarks
}

/// Whether a look at the bytes leaves a doubt.
fn may_hide(text: Value<'_>) -> bool {
    let bytes = text.string_bytes().unwrap_or_default();
    text.has_escapes() || !bytes.is_ascii() || bytes.contains(&0x7f)
}

impl Remark {
    /// `U+001B at character 0: "\u{1b}[2Jhi"`.
    pub(super) fn detail(self, text: Value<'_>) -> String {
        let around = text.chars().skip(self.at.saturating_sub(BEFORE));
        let around: String = around.take(SHOWN).collect();
        let more = match self.more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (code, at, around) = (u32::from(self.first), self.at, quote::text(&around));
        format!("U+{code:04X} at character {at}{more}: {around}")
    }
}

/// A flag of a region of a country is this and tag characters.
const BLACK_FLAG: char = '\u{1f3f4}';

fn is_tag(char: char) -> bool {
    matches!(char, '\u{e0000}'..='\u{e007f}')
}

/// Whether a reader would not see `char` between its neighbours. What shapes letters and emoji is
/// ordinary among them.
fn hides(char: char, before: Option<char>, after: Option<char>, in_flag: bool) -> bool {
    match char {
        // Direction, zero width, invisible operators and fillers, annotations.
        '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{206f}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{2060}'..='\u{2065}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' => true,
        '\u{61c}' | '\u{200c}'..='\u{200f}' => {
            let shaped =
                |beside: Option<char>| beside.is_some_and(|it| !it.is_ascii() && !is_joiner(it));
            !shaped(before) && !shaped(after)
        }
        '\u{fe00}'..='\u{fe0f}' => before.is_none_or(is_selector),
        '\u{e0100}'..='\u{e01ef}' => before.is_none_or(|it| it.is_ascii() || is_selector(it)),
        _ => is_tag(char) && !in_flag,
    }
}

fn is_joiner(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200b}'..='\u{200f}')
}

fn is_selector(char: char) -> bool {
    matches!(char, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::json::Document;

    /// The first character, how many are before it, how many more there are.
    type Told = Option<(char, usize, usize)>;

    fn remarks(text: &str) -> (Told, Told) {
        let json = serde_json::to_string(text).unwrap();
        let document = Document::parse(json.as_bytes()).unwrap();
        let Remarks { control, hidden } = look(document.root());
        let told = |remark: Remark| (remark.first, remark.at, remark.more);
        (control.map(told), hidden.map(told))
    }

    #[test]
    fn what_acts_on_a_terminal_is_told() {
        assert_eq!(remarks("\u{1b}[2J\u{7}").0, Some(('\u{1b}', 0, 1)));
        assert_eq!(remarks("a\u{9b}31m").0, Some(('\u{9b}', 1, 0)));
        assert_eq!(remarks("del\u{7f}").0, Some(('\u{7f}', 3, 0)));
        assert_eq!(remarks("two\r\n\tlines"), (None, None));
    }

    #[test]
    fn what_nobody_sees_is_told() {
        for text in [
            "safe\u{202e}exe",
            "a\u{200b}b",
            "join\u{200d}ed",
            "tags\u{e0068}\u{e0069}",
            "\u{feff}start",
            "a\u{fe0f}\u{fe01}\u{e0100}",
            "\u{e0100}",
            "a\u{200c}\u{200d}\u{200c}b",
        ] {
            assert!(remarks(text).1.is_some(), "{text:?}");
        }
        assert_eq!(
            remarks("tags\u{e0068}\u{e0069}").1,
            Some(('\u{e0068}', 4, 1))
        );
    }

    #[test]
    fn what_shapes_letters_and_emoji_is_ordinary() {
        for text in [
            "naïve café",
            "日本語",
            "👩\u{200d}👩\u{200d}👧",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
            "❤\u{fe0f} 1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "שלום\u{200f}!",
            "葛\u{e0100}",
        ] {
            assert_eq!(remarks(text), (None, None), "{text:?}");
        }
    }
}
