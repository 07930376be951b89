//! What comes before a case: a handshake without fault, or what messages of the modern era need.

use crate::told::{Row, When, line};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Everything that a client can declare and a case may use.
const CLIENT: &str = r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#;
const SERVER: &str = r#"{"logging":{},"completions":{},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"tools":{"listChanged":true}}"#;

const MODERN: &str = "2026-07-28";

/// How a case starts.
#[derive(Deserialize)]
pub struct Start {
    session: Option<String>,
    client: Option<String>,
    server: Option<String>,
}

impl Start {
    /// How many frames come before the record.
    pub fn frames(&self) -> u64 {
        self.rows().len() as u64
    }

    /// The rows before the record.
    pub fn rows(&self) -> Vec<Row> {
        let Some(version) = self.session.as_deref() else {
            return Vec::new();
        };
        let server = self.server.as_deref().unwrap_or(SERVER);
        let row = |stream: &str, what: String| (When::At(0), stream.to_owned(), what);
        if version == MODERN {
            let answer = format!(
                r#"result "start" {{"supportedVersions":["{MODERN}"],"capabilities":{server},"ttlMs":1,"cacheScope":"public"}}"#
            );
            let rows = [
                row("c2s", r#"request "start" server/discover"#.to_owned()),
                row("s2c", answer),
            ];
            return rows.iter().map(|row| self.completed(row)).collect();
        }
        let client = self.client.as_deref().unwrap_or(CLIENT);
        vec![
            row(
                "c2s",
                format!(
                    r#"request "start" initialize {{"protocolVersion":"{version}","capabilities":{client},"clientInfo":{{"name":"c","version":"1"}}}}"#
                ),
            ),
            row(
                "s2c",
                format!(
                    r#"result "start" {{"protocolVersion":"{version}","capabilities":{server},"serverInfo":{{"name":"s","version":"1"}}}}"#
                ),
            ),
            row("c2s", "notify notifications/initialized".to_owned()),
        ]
    }

    /// The row with what the modern era asks of every request and result, where the case is of
    /// that era and the short form does not say it itself.
    pub fn completed(&self, row: &Row) -> Row {
        let (when, stream, what) = row;
        let is_modern = self.session.as_deref() == Some(MODERN);
        let is_short = what.starts_with("request ") || what.starts_with("result ");
        if !is_modern || !is_short {
            return (*when, stream.clone(), what.clone());
        }
        let mut message: Value = serde_json::from_str(&line(what)).unwrap();
        if message.get("method").is_some() {
            let client: Value =
                serde_json::from_str(self.client.as_deref().unwrap_or(CLIENT)).unwrap();
            let meta = meta(&mut message, "params");
            add(
                meta,
                "io.modelcontextprotocol/protocolVersion",
                json!(MODERN),
            );
            add(meta, "io.modelcontextprotocol/clientCapabilities", client);
            add(
                meta,
                "io.modelcontextprotocol/clientInfo",
                json!({"name":"c","version":"1"}),
            );
        } else if message["result"].is_object() {
            add(
                object(&mut message, "result"),
                "resultType",
                json!("complete"),
            );
            let meta = meta(&mut message, "result");
            add(
                meta,
                "io.modelcontextprotocol/serverInfo",
                json!({"name":"s","version":"1"}),
            );
        }
        (*when, stream.clone(), message.to_string())
    }
}

fn object<'a>(value: &'a mut Value, name: &str) -> &'a mut Map<String, Value> {
    let members = value.as_object_mut().unwrap();
    members
        .entry(name)
        .or_insert_with(|| json!({}))
        .as_object_mut()
        .unwrap()
}

fn meta<'a>(message: &'a mut Value, holder: &str) -> &'a mut Map<String, Value> {
    let holder = object(message, holder);
    holder
        .entry("_meta")
        .or_insert_with(|| json!({}))
        .as_object_mut()
        .unwrap()
}

fn add(members: &mut Map<String, Value>, name: &str, value: Value) {
    members.entry(name).or_insert(value);
}
