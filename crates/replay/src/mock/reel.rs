//! Recorded lines, read when they are served, with secrets filled in. Nothing here keeps a body.

use mcpreel_redact::token::{self, spellings};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::quoted;
use std::collections::{BTreeMap, BTreeSet};

/// Names of placeholders that are remembered: more could not be listed.
const MOST_NAMES: usize = 1000;

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

    /// The line of a frame, with its end.
    pub fn line(&self, seq: Seq) -> Result<Vec<u8>, ReadError> {
        let mut line = self.secrets.fill(self.recording.raw(seq)?);
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        Ok(line)
    }
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
