//! A configuration as a tree of values, each with its place in the text: JSON, JSON with comments,
//! TOML and YAML alike.
//!
//! The text is never written anew from the tree: whoever changes it changes bytes at a place.

use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A marker at the beginning of a file, of Windows; it is kept.
const BOM: &str = "\u{feff}";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Json,
    /// With comments and commas at the end of lists.
    Jsonc,
    Toml,
    Yaml,
}

/// A configuration that was read.
#[derive(Debug)]
pub struct Document {
    pub text: String,
    pub format: Format,
    pub root: Node,
}

/// A value, and the bytes of the text where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub at: Range<usize>,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Text(String),
    List(Vec<Node>),
    /// In the order of the text.
    Map(Vec<(Key, Node)>),
    /// Numbers, true and false, nothing; and what stands elsewhere in the text, as YAML allows.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub at: Range<usize>,
    pub name: String,
}

/// Why a text is no configuration: what the parser says, with line and column.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SyntaxError(String);

impl Document {
    /// Reads a configuration.
    pub fn parse(text: String, format: Format) -> Result<Self, SyntaxError> {
        let skipped = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let body = &text[skipped..];
        let mut root = match format {
            _ if body.trim().is_empty() => Node::empty(),
            Format::Json | Format::Jsonc => json(body, format)?,
            Format::Toml => {
                let table = DeTable::parse(body);
                let table = table.map_err(|error| SyntaxError(error.to_string()))?;
                toml_table(table.span(), table.get_ref())
            }
            Format::Yaml => Yaml::read(body)?,
        };
        root.shift(skipped);
        Ok(Self { text, format, root })
    }

    /// The bytes at a place.
    pub fn raw(&self, at: &Range<usize>) -> &str {
        &self.text[at.clone()]
    }

    /// Where the line of a place begins, and where it ends, without the end of line.
    pub fn line(&self, place: usize) -> Range<usize> {
        let start = self.text[..place].rfind('\n').map_or(0, |at| at + 1);
        let rest = &self.text[place..];
        let end = place + rest.find('\n').unwrap_or(rest.len());
        let cr = usize::from(self.text[start..end].ends_with('\r'));
        start..end - cr
    }
}

impl Node {
    fn empty() -> Self {
        Self {
            at: 0..0,
            kind: Kind::Map(Vec::new()),
        }
    }

    /// The member of a map.
    pub fn member(&self, name: &str) -> Option<&(Key, Self)> {
        self.map().iter().find(|(key, _)| key.name == name)
    }

    pub fn get(&self, name: &str) -> Option<&Self> {
        self.member(name).map(|(_, value)| value)
    }

    /// The members; none of what is no map.
    pub fn map(&self) -> &[(Key, Self)] {
        match &self.kind {
            Kind::Map(members) => members,
            _ => &[],
        }
    }

    /// The elements; none of what is no list.
    pub fn list(&self) -> &[Self] {
        match &self.kind {
            Kind::List(elements) => elements,
            _ => &[],
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    fn shift(&mut self, by: usize) {
        self.at = self.at.start + by..self.at.end + by;
        match &mut self.kind {
            Kind::List(elements) => elements.iter_mut().for_each(|one| one.shift(by)),
            Kind::Map(members) => {
                for (key, value) in members {
                    key.at = key.at.start + by..key.at.end + by;
                    value.shift(by);
                }
            }
            Kind::Text(_) | Kind::Other => {}
        }
    }
}

fn json(text: &str, format: Format) -> Result<Node, SyntaxError> {
    let is_loose = format == Format::Jsonc;
    let options = ParseOptions {
        allow_comments: is_loose,
        allow_trailing_commas: is_loose,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
    let parsed = parsed.map_err(|error| SyntaxError(error.to_string()))?;
    Ok(parsed.value.as_ref().map_or_else(Node::empty, json_value))
}

fn json_value(value: &ast::Value<'_>) -> Node {
    let at = value.range();
    let kind = match value {
        ast::Value::StringLit(text) => Kind::Text(text.value.to_string()),
        ast::Value::Array(array) => Kind::List(array.elements.iter().map(json_value).collect()),
        ast::Value::Object(object) => {
            let members = object.properties.iter().map(|property| {
                let at = property.name.range();
                let name = match &property.name {
                    ObjectPropName::String(text) => text.value.to_string(),
                    ObjectPropName::Word(word) => word.value.to_owned(),
                };
                let at = at.start..at.end;
                (Key { at, name }, json_value(&property.value))
            });
            Kind::Map(members.collect())
        }
        _ => Kind::Other,
    };
    let at = at.start..at.end;
    Node { at, kind }
}

fn toml_table(at: Range<usize>, table: &DeTable<'_>) -> Node {
    let member = |(name, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
        let key = Key {
            at: name.span(),
            name: name.get_ref().to_string(),
        };
        (key, toml_value(value))
    };
    let mut members: Vec<_> = table.iter().map(member).collect();
    members.sort_by_key(|(key, _)| key.at.start);
    let kind = Kind::Map(members);
    Node { at, kind }
}

fn toml_value(value: &Spanned<DeValue<'_>>) -> Node {
    let at = value.span();
    let kind = match value.get_ref() {
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Array(array) => Kind::List(array.iter().map(toml_value).collect()),
        DeValue::Table(table) => return toml_table(at, table),
        _ => Kind::Other,
    };
    Node { at, kind }
}

/// Makes a tree of the events of the parser, which counts in characters.
struct Yaml<'t> {
    text: &'t str,
    events: Parser<'t, saphyr_parser::StrInput<'t>>,
    /// The byte at which each character begins, and the end.
    bytes: Vec<usize>,
}

impl<'t> Yaml<'t> {
    /// Reads the first document, which is all that a configuration has.
    fn read(text: &'t str) -> Result<Node, SyntaxError> {
        let starts = text.char_indices().map(|(at, _)| at);
        let mut yaml = Self {
            text,
            events: Parser::new_from_str(text),
            bytes: starts.chain([text.len()]).collect(),
        };
        loop {
            match yaml.next()? {
                (Event::StreamStart | Event::DocumentStart(_), _) => {}
                (Event::StreamEnd | Event::DocumentEnd, _) => return Ok(Node::empty()),
                (event, span) => return yaml.node(&event, span),
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), SyntaxError> {
        let event = self.events.next();
        let event = event.unwrap_or(Ok((Event::StreamEnd, Span::default())));
        event.map_err(|error| SyntaxError(error.to_string()))
    }

    fn node(&mut self, event: &Event<'t>, span: Span) -> Result<Node, SyntaxError> {
        let mut at = self.bytes[span.start.index()]..self.bytes[span.end.index()];
        let kind = match event {
            Event::Scalar(text, style, 0, None) => {
                // A comment behind a text in quotes counts as a part of it.
                if let Some(length) = quoted(&self.text[at.clone()]) {
                    at.end = at.start + length;
                }
                let is_text = *style != ScalarStyle::Plain || !is_other(text);
                let is_here = matches!(
                    style,
                    ScalarStyle::Plain | ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted
                );
                if is_text && is_here {
                    Kind::Text(text.to_string())
                } else {
                    Kind::Other
                }
            }
            Event::SequenceStart(..) => {
                let mut elements = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, end) => {
                            at.end = self.bytes[end.end.index()];
                            break Kind::List(elements);
                        }
                        (event, span) => elements.push(self.node(&event, span)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut members = Vec::new();
                loop {
                    let (event, span) = self.next()?;
                    if event == Event::MappingEnd {
                        at.end = self.bytes[span.end.index()];
                        break Kind::Map(members);
                    }
                    let key = self.node(&event, span)?;
                    let (event, span) = self.next()?;
                    let value = self.node(&event, span)?;
                    // A key that is no text is none that is looked for.
                    let name = key.text().unwrap_or_default().to_owned();
                    members.push((Key { at: key.at, name }, value));
                }
            }
            _ => Kind::Other,
        };
        Ok(Node { at, kind })
    }
}

/// Whether plain text in YAML means something else than the text.
fn is_other(text: &str) -> bool {
    let words = ["", "~", "null", "true", "false"];
    words.contains(&&*text.to_ascii_lowercase()) || text.parse::<f64>().is_ok()
}

/// The length of a text in quotes at the beginning (YAML 1.2.2, section 7.3), with them.
fn quoted(text: &str) -> Option<usize> {
    let quote = text.bytes().next().filter(|byte| b"\"'".contains(byte))?;
    let (mut at, bytes) = (1, text.as_bytes());
    while *bytes.get(at)? != quote || quote == b'\'' && bytes.get(at + 1) == Some(&quote) {
        let is_pair = bytes[at] == quote || quote == b'"' && bytes[at] == b'\\';
        at += 1 + usize::from(is_pair);
    }
    Some(at + 1)
}
