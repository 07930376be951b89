//! Recorded lines, read when they are served, with secrets filled in. Nothing here keeps a body.

use mcpreel_redact::token::{self, spellings};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, quoted};
use std::collections::{BTreeMap, BTreeSet};

/// Names of placeholders that are remembered: more could not be listed.
const MOST_NAMES: usize = 1000;

/// A message by its frame and its place in a batch.
pub type Place = (Seq, u32);

/// A recording, with secrets filled in.
#[derive(Debug)]
pub struct Source {
    recording: Recording,
    secrets: Secrets,
}

impl Source {
    pub fn new(recording: Recording, secrets: Secrets) -> Self {
        Self { recording, secrets }
    }

    /// The line of a message, with its end; a message of a batch gets a line of its own.
    pub fn line(&self, (seq, part): Place) -> Result<Vec<u8>, ReadError> {
        let raw = self.secrets.fill(self.recording.raw(seq)?);
        let mut line = element(&raw, part).unwrap_or(raw);
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        Ok(line)
    }
}

/// The message `part` of a batch; `None` if the line is no batch.
pub(super) fn element(line: &[u8], part: u32) -> Option<Vec<u8>> {
    let begins_array = line.trim_ascii_start().starts_with(b"[");
    let document = begins_array.then(|| Document::parse(line).ok())??;
    Some(document.root().index(part as usize)?.raw().to_vec())
}

/// The values of redacted placeholders, by name: `secret:1`.
#[derive(Clone, Debug, Default)]
pub struct Secrets(BTreeMap<String, String>);

impl Secrets {
    /// `value` stands for the placeholder `name`.
    pub fn bind(&mut self, name: String, value: String) {
        self.0.insert(name, value);
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds the names of the placeholders in `bytes` to `found`.
    pub fn find(bytes: &[u8], found: &mut BTreeSet<String>) {
        token::names_in(bytes, MOST_NAMES, found);
    }

    /// The `names` that have no value.
    pub fn lacks(&self, names: &BTreeSet<String>) -> Vec<String> {
        let unbound = names.iter().filter(|name| !self.0.contains_key(*name));
        unbound.cloned().collect()
    }

    /// JSON text with the values in place of their placeholders; bytes that are not UTF-8 stay.
    pub fn fill(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.0.is_empty() {
            return bytes;
        }
        let mut text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return error.into_bytes(),
        };
        for (name, value) in &self.0 {
            let json = quoted(value);
            for (open, close) in spellings() {
                let placeholder = format!("{open}{name}{close}");
                text = text.replace(&placeholder, &json[1..json.len() - 1]);
            }
        }
        text.into_bytes()
    }
}
