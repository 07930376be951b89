//! The gaps in a redacted text: what fills them in another text that is the same otherwise.

use mcpreel_redact::token::{Piece, Pieces, is_one, may_be_in};
use mcpreel_wire::json::{Document, Kind, Value};

/// The text in `text` in place of each placeholder of `redacted`, by its name; `None` where `text` is not
/// the same but for that.
pub fn values<'p, 't>(redacted: &'p str, text: &'t str) -> Option<Vec<(&'p str, &'t str)>> {
    matched(&parts(redacted), text)
}

/// How many values are redacted in the bytes of a message which is otherwise `original`; `None` where
/// it is not. No value goes beyond the string that it stood in.
pub fn hidden(redacted: &[u8], original: &[u8]) -> Option<u64> {
    if redacted == original || !may_be_in(redacted) {
        return None;
    }
    let [redacted, original] = [redacted, original].map(std::str::from_utf8);
    in_text(redacted.ok()?, original.ok()?)
}

fn in_text(redacted: &str, original: &str) -> Option<u64> {
    let [one, other] = [redacted, original].map(|text| Document::parse(text.as_bytes()));
    match (&one, &other) {
        (Ok(one), Ok(other)) => in_value(one.root(), other.root()),
        _ => Some(values(redacted, original)?.len() as u64),
    }
}

fn in_value(redacted: Value<'_>, original: Value<'_>) -> Option<u64> {
    if redacted.raw() == original.raw() {
        return Some(0);
    }
    match (redacted.kind(), original.kind()) {
        (Kind::Object, Kind::Object) | (Kind::Array, Kind::Array) => {
            let (redacted, original) = (parts_of(redacted), parts_of(original));
            let both = redacted.iter().zip(&original);
            let each = both.map(|(redacted, original)| in_value(*redacted, *original));
            (redacted.len() == original.len()).then(|| each.sum())?
        }
        (Kind::String, Kind::String) => in_text(&redacted.as_str()?, &original.as_str()?),
        // A number is replaced by a string.
        (Kind::String, Kind::Number) => is_one(&redacted.str_bytes()).then_some(1),
        _ => None,
    }
}

fn parts_of(value: Value<'_>) -> Vec<Value<'_>> {
    let members = value.members().flat_map(|(name, value)| [name, value]);
    members.chain(value.elements()).collect()
}

#[derive(Clone, Copy, Debug)]
enum Part<'p> {
    Text(&'p str),
    Value(&'p str),
}

/// The parts of a text: no two texts side by side. Of placeholders side by side the first stands for
/// all of them: nobody knows where one value ended.
fn parts(redacted: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    for piece in Pieces(redacted) {
        match piece {
            Piece::Text(text) => at += text.len(),
            Piece::Placeholder { name, whole } => {
                if from < at {
                    parts.push(Part::Text(&redacted[from..at]));
                }
                if !matches!(parts.last(), Some(Part::Value(_))) {
                    parts.push(Part::Value(name));
                }
                at += whole.len();
                from = at;
            }
        }
    }
    if from < at {
        parts.push(Part::Text(&redacted[from..at]));
    }
    parts
}

/// Each value as short as can be; none is empty.
fn matched<'p, 't>(parts: &[Part<'p>], text: &'t str) -> Option<Vec<(&'p str, &'t str)>> {
    let (mut values, mut rest, mut open) = (Vec::new(), text, None);
    for (part, left) in parts.iter().zip((0..parts.len()).rev()) {
        match (*part, open) {
            (Part::Value(name), _) => open = Some(name),
            (Part::Text(text), None) => rest = rest.strip_prefix(text)?,
            (Part::Text(text), Some(name)) => {
                let first = rest.chars().next()?.len_utf8();
                let at = match left {
                    0 => rest.ends_with(text).then(|| rest.len() - text.len()),
                    _ => rest[first..].find(text).map(|at| at + first),
                };
                let at = at.filter(|at| *at >= first)?;
                values.push((name, &rest[..at]));
                (rest, open) = (&rest[at + text.len()..], None);
            }
        }
    }
    match open {
        Some(_) if rest.is_empty() => return None,
        Some(name) => values.push((name, rest)),
        None if rest.is_empty() => {}
        None => return None,
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_place_of_placeholders_is_found() {
        let found = values("a ‹secret:1› b ‹email:2›", "a one b two@x");
        assert_eq!(found.unwrap(), [("secret:1", "one"), ("email:2", "two@x")]);
        assert_eq!(
            values("‹home:1›/x", "/ada/x").unwrap(),
            [("home:1", "/ada")]
        );
        // The last text is that at the end; what only looks like a placeholder is text.
        assert_eq!(values("‹a:1›/x", "b/x/x").unwrap(), [("a:1", "b/x")]);
        assert_eq!(values("‹a›‹b:1› ‹c", "‹a›x ‹c").unwrap(), [("b:1", "x")]);
        assert_eq!(values("‹a:1›‹b:2›", "xy").unwrap(), [("a:1", "xy")]);
        for (redacted, text) in [
            ("a ‹secret:1›", "b one"),
            ("a ‹secret:1›", "a "),
            ("a ‹secret:1› b", "a  b!"),
            ("‹secret:1› b", " b"),
            ("plain", "other"),
        ] {
            assert_eq!(values(redacted, text), None, "{redacted}");
        }
    }

    #[test]
    fn a_message_is_the_original_but_for_what_is_redacted() {
        let hidden = |redacted: &str, text: &str| hidden(redacted.as_bytes(), text.as_bytes());
        let (one, two) = (
            r#"{"a":"‹secret:1›","b":2}"#,
            r#"{"a":"x ‹secret:1›","b":2}"#,
        );
        assert_eq!(hidden(one, r#"{"a":"p\"q","b":2}"#), Some(1));
        assert_eq!(hidden(one, r#"{"a":4711,"b":2}"#), Some(1));
        assert_eq!(hidden(two, r#"{"a":"x y","b":2}"#), Some(1));
        // Something else was changed as well.
        assert_eq!(hidden(one, r#"{"a":"p","c":1,"b":2}"#), None);
        assert_eq!(hidden(one, r#"{"a":4711,"c":"1","b":2}"#), None);
        assert_eq!(hidden(two, r#"{"a":"x y","c":"z","b":2}"#), None);
        assert_eq!(hidden(one, r#"{"a":"p","b":3}"#), None);
        assert_eq!(hidden(one, one), None);
        assert_eq!(hidden(r#"{"b":2}"#, r#"{"b":3}"#), None);
        let nested = r#"{"text":"{\"a\":\"‹secret:1›\"}"}"#;
        assert_eq!(hidden(nested, r#"{"text":"{\"a\":\"x\"}"}"#), Some(1));
        assert_eq!(hidden(nested, r#"{"text":"{\"a\":4711}"}"#), Some(1));
        let more = r#"{"text":"{\"a\":\"x\",\"b\":\"y\"}"}"#;
        assert_eq!(hidden(nested, more), None);
    }
}
