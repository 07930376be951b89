//! The arguments of a call, as the server listed its tools last before it.

use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, What};
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::text::{cut, escape};

/// Pages of the list that are looked through.
const PAGES: u32 = 20;

/// A longer page is not read: somebody waits for the row.
const BYTES: u64 = 1 << 20;

/// Arguments of one tool that are told of.
const ARGUMENTS: usize = 200;

/// Columns of a description: its first words.
const WORDS: usize = 160;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    /// `string, required: Name of the city`, escaped; empty where the schema says nothing.
    pub told: String,
}

/// The arguments of a `tools/call`, as the schema of its tool describes them (tools 2025-11-25,
/// `inputSchema`). Nothing for another row, or for a tool that was not in the last list before the
/// call.
pub(crate) fn arguments(recording: &Recording, item: &Item) -> Result<Vec<Argument>, ReadError> {
    let is_request = match &item.what {
        What::Exchange(_) => true,
        What::Message { record, .. } => record.kind == MessageKind::Request,
        What::Http(_) | What::Line { .. } | What::Event(_) => false,
    };
    let tool = item.name().filter(|_| item.method() == Some("tools/call"));
    let Some(tool) = tool.filter(|_| is_request) else {
        return Ok(Vec::new());
    };
    for page in recording.answers_of("tools/list", Some(item.key.seq), PAGES)? {
        let bytes = short(recording, page)?.unwrap_or_default();
        if let Some(arguments) = read(&bytes, tool) {
            return Ok(arguments);
        }
    }
    Ok(Vec::new())
}

/// The bytes of a message, unless they are too many.
pub(crate) fn short(
    recording: &Recording,
    (seq, part): (Seq, u32),
) -> Result<Option<Vec<u8>>, ReadError> {
    match recording.head(seq)? {
        Some(head) if head.size <= BYTES => recording.message_bytes(seq, part),
        _ => Ok(None),
    }
}

/// Reads the arguments of `tool` from an answer to `tools/list`; `None` where the tool is not in it.
fn read(answer: &[u8], tool: &str) -> Option<Vec<Argument>> {
    let document = Document::parse(answer).ok()?;
    let tools = document.root().get("result")?.get("tools")?;
    let is_it = |listed: &Value<'_>| listed.get("name").is_some_and(|name| name.is_str(tool));
    let schema = tools.elements().find(is_it)?.get("inputSchema")?;
    let required = schema.get("required");
    let required = required.iter().flat_map(Value::elements);
    let required = required.filter_map(|name| name.as_str().map(String::from));
    let required: Vec<_> = required.take(ARGUMENTS).collect();
    let properties = schema.get("properties");
    let properties = properties.iter().flat_map(Value::members);
    let argument = |(name, schema): (String, Value<'_>)| {
        let told = told(schema, required.contains(&name));
        Argument { name, told }
    };
    let named = properties.filter_map(|(name, schema)| Some((name.as_str()?.into_owned(), schema)));
    Some(named.take(ARGUMENTS).map(argument).collect())
}

/// `string, required: Name of the city`.
fn told(schema: Value<'_>, required: bool) -> String {
    let required = required.then(|| "required".to_owned());
    let what: Vec<_> = kind(schema).into_iter().chain(required).collect();
    let about = schema.get("description");
    let about = about.and_then(|about| Some(first_words(&about.as_str()?)));
    let about = about.filter(|about| !about.is_empty());
    let what = Some(what.join(", ")).filter(|what| !what.is_empty());
    let parts: Vec<_> = what.into_iter().chain(about).collect();
    parts.join(": ")
}

/// `string`, `["integer","null"]`, `one of ["a","b"]`.
fn kind(schema: Value<'_>) -> Option<String> {
    let text = match (schema.get("enum"), schema.get("type")) {
        (Some(words), _) => format!("one of {}", words.raw_text()),
        (None, kind) => {
            let kind = kind?;
            kind.as_str().unwrap_or(kind.raw_text()).into_owned()
        }
    };
    Some(cut(&escape(&text), WORDS))
}

/// The beginning of a description, on one line.
fn first_words(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default();
    cut(&escape(line.trim_end()), WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(properties: &str) -> Vec<String> {
        let list = format!(
            r#"{{"result":{{"tools":[7,{{"name":"x"}},{{"name":"t","inputSchema":{{"properties":{properties},"required":["a",1]}}}}]}}}}"#
        );
        let arguments = read(list.as_bytes(), "t").expect("it is listed");
        let line = |argument: Argument| format!("{}: {}", argument.name, argument.told);
        arguments.into_iter().map(line).collect()
    }

    #[test]
    fn an_argument_is_told_by_its_type_whether_it_is_required_and_its_first_words() {
        let properties = r#"{"a":{"type":"string","description":"Name of the city\nor so"},
            "b":{"type":["integer","null"]},"c":{"enum":["x",1]},"d":{},"e":true}"#;
        let expected = [
            "a: string, required: Name of the city",
            "b: [\"integer\",\"null\"]",
            "c: one of [\"x\",1]",
            "d: ",
            "e: ",
        ];
        assert_eq!(told(properties), expected);
    }

    #[test]
    fn what_a_schema_says_is_escaped_and_bounded() {
        let long = format!(
            r#"{{"a":{{"type":"\u001b[2J","description":"{}"}}}}"#,
            "w ".repeat(500)
        );
        let told = told(&long).remove(0);
        assert!(!told.contains('\u{1b}') && told.len() < 250, "{told}");
        assert_eq!(read(b"no JSON", "t"), None);
        assert_eq!(read(br#"{"result":{"tools":[]}}"#, "t"), None);
    }
}
