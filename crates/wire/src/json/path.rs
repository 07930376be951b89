//! Paths into a value: `params.arguments.q`, `result.content[*].text`,
//! `_meta["io.modelcontextprotocol/serverInfo"].version`.
//!
//! ```text
//! path  = [ name | index ] *( "." name | index )
//! name  = 1*( letter | digit | "_" | "-" | "$" )
//! index = "[" ( digits | "*" | JSON string ) "]"
//! ```
//!
//! The empty path is the value itself. A name in brackets is a JSON string and can be any.

use super::document::Document;
use super::edit::quoted;
use super::value::Value;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The member of an object with this name, the last one where there are several.
    Member(Box<str>),
    /// The element of an array at this position, counted from 0.
    Element(usize),
    /// Every element of an array, or every member of an object.
    Every,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at byte {offset}")]
pub struct PathError {
    /// Bytes before the place that does not fit.
    pub offset: usize,
    pub reason: &'static str,
}

impl Path {
    pub fn new(steps: Vec<Step>) -> Self {
        Self { steps }
    }

    /// Reads the path that `text` begins with; and its length. Only a bracket can be wrong.
    pub fn read(text: &str) -> Result<(Self, usize), PathError> {
        let (mut steps, mut at) = (Vec::new(), 0);
        loop {
            let rest = &text[at..];
            let step = match rest.strip_prefix('.') {
                _ if rest.starts_with('[') => bracket(rest).map(Some),
                Some(rest) if at > 0 => Ok(name(rest).map(|(step, length)| (step, length + 1))),
                _ if at == 0 => Ok(name(rest)),
                _ => Ok(None),
            };
            let error = |(offset, reason)| PathError {
                offset: at + offset,
                reason,
            };
            let Some((step, length)) = step.map_err(error)? else {
                return Ok((Self { steps }, at));
            };
            steps.push(step);
            at += length;
        }
    }

    /// Its steps, from the outside in.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether it can lead to several values.
    pub fn is_multiple(&self) -> bool {
        self.steps.contains(&Step::Every)
    }

    /// All values that it leads to from `root`, in the order of the text.
    pub fn all<'d>(&self, root: Value<'d>) -> Vec<Value<'d>> {
        let mut values = vec![root];
        for step in &self.steps {
            values = values.iter().flat_map(|value| step.from(*value)).collect();
        }
        values
    }

    /// The first value that it leads to from `root`.
    pub fn first<'d>(&self, root: Value<'d>) -> Option<Value<'d>> {
        first(&self.steps, root)
    }
}

/// Depth first, so that only as much is visited as needed. As deep as the path is long.
fn first<'d>(steps: &[Step], value: Value<'d>) -> Option<Value<'d>> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(value);
    };
    step.from(value).find_map(|next| first(rest, next))
}

impl Step {
    fn from<'d>(&self, value: Value<'d>) -> impl Iterator<Item = Value<'d>> {
        let one = match self {
            Self::Member(name) => value.get(name),
            Self::Element(index) => value.index(*index),
            Self::Every => None,
        };
        let every = (*self == Self::Every).then(|| {
            let members = value.members().map(|(_, value)| value);
            value.elements().chain(members)
        });
        one.into_iter().chain(every.into_iter().flatten())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            match step {
                Step::Member(name) if !is_name(name) => write!(f, "[{}]", quoted(name))?,
                Step::Member(name) if index == 0 => f.write_str(name)?,
                Step::Member(name) => write!(f, ".{name}")?,
                Step::Element(element) => write!(f, "[{element}]")?,
                Step::Every => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_name_char)
}

fn is_name_char(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-' | '$')
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        match Self::read(text)? {
            (path, length) if length == text.len() => Ok(path),
            (_, offset) => Err(PathError {
                offset,
                reason: "expected a name, a dot or a bracket",
            }),
        }
    }
}

/// A step with its length, or where it went wrong.
type Parsed = Result<(Step, usize), (usize, &'static str)>;

fn name(text: &str) -> Option<(Step, usize)> {
    let length = text.find(|char| !is_name_char(char)).unwrap_or(text.len());
    (length > 0).then(|| (Step::Member(text[..length].into()), length))
}

/// What stands in the brackets that `text` begins with.
fn bracket(text: &str) -> Parsed {
    let inner = &text[1..];
    let (step, length) = match inner.as_bytes().first() {
        Some(b'*') => (Step::Every, 1),
        Some(b'"') => quoted_name(inner).map_err(|(offset, reason)| (offset + 1, reason))?,
        Some(b'0'..=b'9') => {
            let digits = inner.find(|char: char| !char.is_ascii_digit());
            let digits = digits.unwrap_or(inner.len());
            let index = inner[..digits].parse();
            (
                Step::Element(index.map_err(|_| (1, "index too large"))?),
                digits,
            )
        }
        _ => return Err((1, "expected an index, a star or a name in quotes")),
    };
    if inner.as_bytes().get(length) != Some(&b']') {
        return Err((1 + length, "expected a closing bracket"));
    }
    Ok((step, length + 2))
}

fn quoted_name(text: &str) -> Parsed {
    let (end, _) = super::scan::string(text.as_bytes(), 0)
        .map_err(|error| (error.offset, error.reason.as_str()))?;
    let document = Document::parse(&text.as_bytes()[..end])
        .map_err(|error| (error.offset, error.reason.as_str()))?;
    let name = document.root().as_str().unwrap_or_default();
    Ok((Step::Member(name.into()), end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> Path {
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn paths_lead_to_values() {
        let json = br#"{"params":{"arguments":{"q":"rust","q":"go"}},"result":{"content":[{"text":"a"},{"data":1},{"text":"b"}]},"_meta":{"io.modelcontextprotocol/serverInfo":{"version":"2"}}}"#;
        let document = Document::parse(json).unwrap();
        for (text, expected) in [
            ("params.arguments.q", &["\"go\""][..]),
            ("result.content[*].text", &["\"a\"", "\"b\""]),
            ("result.content[1].data", &["1"]),
            ("result.content[7]", &[]),
            ("result[0]", &[]),
            ("result.content.text", &[]),
            ("params[*].q", &["\"go\""]),
            (
                r#"_meta["io.modelcontextprotocol/serverInfo"].version"#,
                &["\"2\""],
            ),
            (r#"["params"]["arguments"]["\u0071"]"#, &["\"go\""]),
        ] {
            let path = path(text);
            let found: Vec<_> = path
                .all(document.root())
                .iter()
                .map(Value::raw_text)
                .collect();
            assert_eq!(found, expected, "{text}");
            let first = path.first(document.root()).map(|value| value.raw_text());
            assert_eq!(first.as_deref(), expected.first().copied(), "{text}");
        }
        let itself = path("").first(document.root()).unwrap();
        assert_eq!(itself.raw(), json);
    }

    #[test]
    fn errors_say_where() {
        for (text, offset) in [
            (".a", 0),
            ("a.", 1),
            ("a..b", 1),
            ("a b", 1),
            ("a.", 1),
            ("a[x]", 2),
            ("a[1", 3),
            ("a[\"x]", 5),
            ("a[\"\\x\"]", 3),
            ("a[99999999999999999999999]", 2),
            ("a[0]b", 4),
        ] {
            assert_eq!(text.parse::<Path>().unwrap_err().offset, offset, "{text}");
        }
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            any::<String>().prop_map(|name| Step::Member(name.into())),
            "[a-z_$-]{1,5}".prop_map(|name| Step::Member(name.into())),
            any::<usize>().prop_map(Step::Element),
            Just(Step::Every),
        ];
        prop::collection::vec(step, 0..6)
    }

    proptest! {
        #[test]
        fn a_path_is_read_back_as_it_was_written(steps in steps()) {
            let path = Path::new(steps);
            let text = path.to_string();
            prop_assert_eq!(text.parse::<Path>(), Ok(path), "{}", text);
        }
    }
}
