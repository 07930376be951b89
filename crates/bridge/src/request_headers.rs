//! What a message of the modern era says in headers as well (2026-07-28, Streamable HTTP, "Request
//! Metadata"): its version, its method, what it is about, and arguments that a tool wants there.

use crate::client::Headers;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use mcpreel_wire::http::head::is_header_name;
use mcpreel_wire::json::{Kind, Value, follow};
use std::collections::HashMap;

/// The arguments of tools that are repeated in headers, as `tools/list` says: by the name of the tool,
/// the way to each argument and the name of its header.
#[derive(Default)]
pub struct MirroredArguments(HashMap<String, Vec<(Vec<String>, String)>>);

impl MirroredArguments {
    /// Takes in the tools of a result, if it has some.
    pub fn learn(&mut self, message: Value<'_>) {
        let tools = follow(message, &["result", "tools"]);
        for tool in tools.into_iter().flat_map(|tools| tools.elements()) {
            let (name, schema) = (tool.get("name"), tool.get("inputSchema"));
            if let (Some(name), Some(schema)) = (name.and_then(|it| it.as_str()), schema) {
                let mut found = Vec::new();
                annotated(schema, &mut Vec::new(), &mut found);
                self.0.insert(name.into_owned(), found);
            }
        }
    }

    /// The headers of a request.
    pub fn headers(&self, message: Value<'_>) -> Headers {
        let method = message.get("method").and_then(|it| it.as_str());
        let Some(method) = method else {
            return Headers::new();
        };
        let about = match &*method {
            "tools/call" | "prompts/get" => follow(message, &["params", "name"]),
            "resources/read" => follow(message, &["params", "uri"]),
            _ => None,
        };
        let about = about.and_then(|it| it.as_str());
        let mut headers = vec![("Mcp-Method".into(), method.clone().into_owned())];
        let name = about.iter().map(|it| ("Mcp-Name".into(), header_value(it)));
        headers.extend(name);
        let tool = about.filter(|_| method == "tools/call");
        let arguments = follow(message, &["params", "arguments"]);
        if let (Some(mirrored), Some(arguments)) = (tool.and_then(|it| self.0.get(&*it)), arguments)
        {
            headers.extend(mirrored.iter().filter_map(|(path, name)| {
                let path: Vec<_> = path.iter().map(String::as_str).collect();
                let value = text(follow(arguments, &path)?)?;
                Some((format!("Mcp-Param-{name}").into(), header_value(&value)))
            }));
        }
        headers
    }
}

/// Finds the properties of a schema that have a header, those of objects within it too.
fn annotated(schema: Value<'_>, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let properties = schema.get("properties");
    for (name, property) in properties.into_iter().flat_map(|it| it.members()) {
        path.push(name.as_str().unwrap_or_default().into_owned());
        let header = property.get("x-mcp-header").and_then(|it| it.as_str());
        if let Some(header) = header.filter(|it| is_header_name(it)) {
            found.push((path.clone(), header.into_owned()));
        }
        annotated(property, path, found);
        path.pop();
    }
}

/// The text of a value that may stand in a header.
fn text(value: Value<'_>) -> Option<String> {
    match value.kind() {
        Kind::String => value.as_str().map(Into::into),
        Kind::Number | Kind::Bool => Some(value.raw_text().into_owned()),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

/// The value as it stands in a header: as it is, or in base64 where that would not come through.
fn header_value(value: &str) -> String {
    let is_plain = value
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    let is_marked = value.starts_with("=?base64?") && value.ends_with("?=");
    if is_plain && !is_marked && value.trim() == value {
        return value.to_owned();
    }
    format!("=?base64?{}?=", BASE64.encode(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::json::Document;

    #[test]
    fn values_that_a_header_cannot_carry_are_coded() {
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("a b", "a b"),
            ("Hello, \u{4e16}\u{754c}", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(header_value(value), header, "{value:?}");
        }
    }

    #[test]
    fn a_call_repeats_the_arguments_that_its_tool_wants_in_headers() {
        let list = br#"{"result":{"tools":[{"name":"sql","inputSchema":{"properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "limit":{"type":"integer","x-mcp-header":"Limit"},
            "where":{"properties":{"dry":{"type":"boolean","x-mcp-header":"Dry"}}},
            "bad":{"x-mcp-header":"a b"}}}}]}}"#;
        let mut mirrored = MirroredArguments::default();
        mirrored.learn(Document::parse(list).unwrap().root());
        let call = br#"{"method":"tools/call","params":{"name":"sql","arguments":{
            "region":"us-west1","limit":7,"where":{"dry":true},"bad":"x"}}}"#;
        let call = Document::parse(call).unwrap();
        let headers = mirrored.headers(call.root());
        let headers: Vec<_> = headers.iter().map(|(a, b)| (&**a, &**b)).collect();
        let expected = [
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "sql"),
            ("Mcp-Param-Region", "us-west1"),
            ("Mcp-Param-Limit", "7"),
            ("Mcp-Param-Dry", "true"),
        ];
        assert_eq!(headers, expected);
    }
}
