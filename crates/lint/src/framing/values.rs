//! One walk over the values of a message, for all rules that need every one of them.
//!
//! ```text
//!  object ─▶ repeated names          number ─▶ does a double hold it
//!  string ─▶ lone surrogates, and, where people or models are shown it, what it hides
//! ```

use super::{CONTROL_CHARACTERS, DUPLICATE_KEY, HIDDEN_UNICODE, LONE_SURROGATE, NUMBER_PRECISION};
use crate::quote::{self, Trail};
use crate::{Part, Rule};
use mcpreel_wire::json::{Kind, Unit, Value};
use mcpreel_wire::text::is_hostile;

pub(super) fn look(part: &Part<'_>) {
    if let Some(value) = part.value {
        Walk(part).value(value, &Trail::Top, Scope::Protocol);
    }
}

struct Walk<'a, 'p>(&'p Part<'a>);

impl Walk<'_, '_> {
    /// Recursion is bounded by the depth that a value may have.
    fn value(&self, value: Value<'_>, trail: &Trail<'_>, scope: Scope) {
        match value.kind() {
            Kind::Object => self.object(value, trail, scope),
            Kind::Array => {
                for (index, element) in value.elements().enumerate() {
                    self.value(element, &Trail::Element(trail, index), scope);
                }
            }
            Kind::String => self.string(value, trail, scope),
            Kind::Number => self.number(value, trail),
            Kind::Bool | Kind::Null => {}
        }
    }

    fn object(&self, object: Value<'_>, trail: &Trail<'_>, scope: Scope) {
        for name in object.repeated_names() {
            let named = |(key, _): &(Value<'_>, _)| key.is_str(&name);
            let Some((key, _)) = object.members().find(named) else {
                continue;
            };
            let detail = || format!("\"{}\"", quote::text(&name));
            self.note(&DUPLICATE_KEY, &Trail::Named(trail, key), detail);
        }
        for (key, member) in object.members() {
            let trail = Trail::Named(trail, key);
            if key.has_escapes() {
                self.surrogates(key, &trail);
            }
            self.value(member, &trail, scope.of_member(key, member));
        }
    }

    fn string(&self, string: Value<'_>, trail: &Trail<'_>, scope: Scope) {
        if string.has_escapes() {
            self.surrogates(string, trail);
        }
        if scope != Scope::Shown {
            return;
        }
        for (rule, found) in [&CONTROL_CHARACTERS, &HIDDEN_UNICODE]
            .into_iter()
            .zip(hidden(string))
        {
            if let Some(found) = found {
                self.note(rule, trail, || shown(string, found));
            }
        }
    }

    fn surrogates(&self, string: Value<'_>, trail: &Trail<'_>) {
        let bytes = string.string_bytes().unwrap_or_default();
        let mut escapes = memchr::memchr_iter(b'\\', bytes);
        if !escapes.any(|at| matches!(bytes.get(at + 1..at + 3), Some([b'u', b'd' | b'D']))) {
            return;
        }
        let lone = string.units().find_map(|unit| match unit {
            Unit::LoneSurrogate(code) => Some(code),
            _ => None,
        });
        if let Some(code) = lone {
            let detail = || format!("\\u{code:04x} in {}", quote::bytes(bytes));
            self.note(&LONE_SURROGATE, trail, detail);
        }
    }

    fn number(&self, number: Value<'_>, trail: &Trail<'_>) {
        let text = number.number_text().unwrap_or_default();
        if let Some(loss) = loss(text) {
            let detail = || format!("{}, {loss}", quote::text(text));
            self.note(&NUMBER_PRECISION, trail, detail);
        }
    }

    fn note(&self, rule: &'static Rule, trail: &Trail<'_>, detail: impl FnOnce() -> String) {
        self.0.tell_with(rule, trail, detail);
    }
}

// Numbers that a double does not hold: most peers read every number into one.

/// Up to this size every integer has a double of its own.
const EXACT: u64 = 1 << 53;

/// Numbers of so many characters without an exponent survive in a double.
const SHORT: usize = 15;

/// Why a number, by its JSON text, does not survive in a double; `None` where it does, or where
/// only digits behind the point are lost.
pub(super) fn loss(text: &str) -> Option<&'static str> {
    let exponent = text.bytes().any(|byte| matches!(byte, b'e' | b'E'));
    if !exponent && text.len() <= SHORT {
        return None;
    }
    let digits = text.trim_start_matches('-');
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let exact = digits.parse::<u64>().is_ok_and(|value| value <= EXACT);
        return (!exact).then_some("an integer beyond 2^53");
    }
    let value: f64 = digits.parse().ok()?;
    if value.is_infinite() {
        return Some("too large for a double");
    }
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = mantissa.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    (value < f64::MIN_POSITIVE && !is_zero).then_some("too small for a double")
}

// Which strings of a message people or models are shown as the protocol's own words: names,
// titles, descriptions, messages. What a user, a tool or a file says is payload, and may hold
// anything.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Members that the protocol defines.
    Protocol,
    Shown,
    /// Members whose names somebody chose, such as the properties of a schema.
    Named,
    /// `_meta`, of which only who somebody is counts.
    Meta,
    Payload,
}

impl Scope {
    /// The scope of a member of an object in this scope.
    pub(super) fn of_member(self, name: Value<'_>, value: Value<'_>) -> Self {
        match self {
            Self::Payload => Self::Payload,
            Self::Named => Self::Protocol,
            Self::Meta => {
                let name = name.str_bytes();
                let is_who = name.ends_with(b"/serverInfo") || name.ends_with(b"/clientInfo");
                if is_who {
                    Self::Protocol
                } else {
                    Self::Payload
                }
            }
            Self::Protocol | Self::Shown => of_protocol(&name.str_bytes(), value),
        }
    }
}

fn of_protocol(name: &[u8], value: Value<'_>) -> Scope {
    match name {
        b"name" | b"title" | b"description" | b"message" | b"instructions" | b"statusMessage"
        | b"reason" | b"version" => Scope::Shown,
        b"properties" | b"patternProperties" | b"$defs" | b"definitions" => Scope::Named,
        b"_meta" => Scope::Meta,
        // The arguments of a call are an object, those that a prompt describes are a list; likewise
        // what a form was filled with, and the blocks of a result.
        b"arguments" | b"content" if value.is_object() => Scope::Payload,
        b"structuredContent" | b"data" | b"input" | b"text" | b"blob" | b"metadata"
        | b"default" | b"examples" | b"const" | b"enum" => Scope::Payload,
        _ => Scope::Protocol,
    }
}

// Texts that people or models are shown: what in them acts on a terminal, and what in them
// nobody sees.

/// Characters around a place that a finding shows.
const BEFORE: usize = 20;
const SHOWN: usize = 60;

/// A character of a text, and how many are before it.
type Found = (usize, char);

/// The first character of a string that acts on a terminal (a control character other than tab and
/// line ends), and the first that nobody sees (without ink, or one that changes the order of
/// reading).
fn hidden(text: Value<'_>) -> [Option<Found>; 2] {
    let (mut control, mut hidden) = (None, None);
    if !may_hide(text) {
        return [control, hidden];
    }
    let mut chars = text.chars().enumerate().peekable();
    let (mut before, mut in_flag) = (None, false);
    while let Some((at, char)) = chars.next() {
        in_flag = char == BLACK_FLAG || in_flag && is_tag(char);
        let after = chars.peek().map(|(_, after)| *after);
        if char.is_control() && !matches!(char, '\n' | '\t' | '\r') {
            control.get_or_insert((at, char));
        } else if !char.is_ascii() && hides(char, before, after, in_flag) {
            hidden.get_or_insert((at, char));
        }
        before = Some(char);
    }
    [control, hidden]
}

/// `U+001B at character 0: "\u{1b}[2Jhi"`.
fn shown(text: Value<'_>, (at, char): Found) -> String {
    let around = text.chars().skip(at.saturating_sub(BEFORE));
    let around: String = around.take(SHOWN).collect();
    let (code, around) = (u32::from(char), quote::text(&around));
    format!("U+{code:04X} at character {at}: {around}")
}

/// Whether a look at the bytes leaves a doubt.
fn may_hide(text: Value<'_>) -> bool {
    let bytes = text.string_bytes().unwrap_or_default();
    text.has_escapes() || !bytes.is_ascii() || bytes.contains(&0x7f)
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
        '\u{61c}' | '\u{200c}'..='\u{200f}' => {
            let shaped =
                |beside: Option<char>| beside.is_some_and(|it| !it.is_ascii() && !is_joiner(it));
            !shaped(before) && !shaped(after)
        }
        '\u{fe00}'..='\u{fe0f}' => before.is_none_or(is_selector),
        '\u{e0100}'..='\u{e01ef}' => before.is_none_or(|it| it.is_ascii() || is_selector(it)),
        _ => is_hostile(char) && !(is_tag(char) && in_flag),
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
    use super::loss;

    #[test]
    fn a_number_is_told_where_a_double_holds_another() {
        for text in [
            "9007199254740993",
            "-9007199254740993",
            "12345678901234567890",
            "-9223372036854775808",
            "1e400",
            "-1e309",
            "1e-400",
        ] {
            assert!(loss(text).is_some(), "{text}");
        }
    }
}

#[cfg(test)]
mod text_tests {
    use super::*;
    use mcpreel_wire::json::Document;

    fn is_hidden(text: &str) -> bool {
        let json = serde_json::to_string(text).unwrap();
        hidden(Document::parse(json.as_bytes()).unwrap().root())[1].is_some()
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
            assert!(is_hidden(text), "{text:?}");
        }
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
            assert!(!is_hidden(text), "{text:?}");
        }
    }
}
