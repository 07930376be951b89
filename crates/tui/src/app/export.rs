//! An export: what is offered, what was chosen of it, how far it is.

use super::replay::Running;
use crate::worker::export::Order;
use mcpreel_share::outgoing::Format;
use mcpreel_store::library::name::sanitised;
use mcpreel_store::select::Question;
use mcpreel_trace::frame::Seq;
use std::path::PathBuf;

/// An export, from the question to its end.
#[derive(Debug, Default)]
pub struct Export {
    /// What could be exported, as long as it is asked about.
    pub offer: Option<Box<Offer>>,
    /// The one that runs; also a report that is made for the clipboard.
    pub running: Option<Running>,
    /// The one whose file is there already.
    pub again: Option<Box<Order>>,
    /// The report that was made last, where it is too long for a clipboard.
    pub report: Option<String>,
}

/// What could be exported, and what was chosen.
#[derive(Debug)]
pub struct Offer {
    pub generation: u64,
    pub path: PathBuf,
    pub id: String,
    pub format: Format,
    pub scope: Scope,
    /// The filter that is in force, as it was typed.
    pub filter: Option<(String, Question)>,
    /// The exchange that is selected: its request.
    pub exchange: Option<(Seq, u32)>,
    pub is_raw: bool,
    /// The file, where another name was chosen.
    pub file: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    Filter,
    Marked,
    Exchange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    Write,
    /// It is written in place of what is there.
    Replace,
    Formats,
    Format(Format),
    Scopes,
    Scope(Scope),
    Raw(bool),
    Name,
}

/// The formats: the letter that chooses each (one that moves no cursor), its name, how its file
/// ends, what it is.
pub const FORMATS: [(char, Format, &str, &str, &str); 8] = [
    (
        'l',
        Format::Jsonl,
        "jsonl",
        "jsonl",
        "a line per frame or event; mcpreel reads it again",
    ),
    ('t', Format::Text, "text", "txt", "a transcript for reading"),
    (
        'c',
        Format::Csv,
        "csv",
        "csv",
        "statistics for a spreadsheet",
    ),
    (
        'm',
        Format::Markdown,
        "markdown",
        "md",
        "a bug report: what happened and why",
    ),
    (
        'h',
        Format::Html,
        "html",
        "html",
        "a page for a browser, in one file",
    ),
    (
        'o',
        Format::Otlp,
        "otlp",
        "otlp.jsonl",
        "a trace for OpenTelemetry, without bodies",
    ),
    (
        'p',
        Format::Perfetto,
        "perfetto",
        "perfetto.json",
        "a trace for Perfetto or Chrome",
    ),
    (
        'r',
        Format::Recording,
        "recording",
        "reel",
        "a recording, in one plain file",
    ),
];

impl Offer {
    pub fn scopes(&self) -> Vec<Scope> {
        let mut scopes = vec![Scope::All];
        scopes.extend(self.filter.as_ref().map(|_| Scope::Filter));
        scopes.push(Scope::Marked);
        scopes.extend(self.exchange.map(|_| Scope::Exchange));
        scopes
    }

    /// The name of the format, how its file ends, and what it is.
    pub fn format(&self) -> (&'static str, &'static str, &'static str) {
        let mut formats = FORMATS.into_iter();
        let found = formats.find(|(_, format, ..)| *format == self.format);
        found.map_or(("", "", ""), |(_, _, name, ending, what)| {
            (name, ending, what)
        })
    }

    /// The file that is written, as it was typed or is proposed.
    pub fn file(&self) -> String {
        if let Some(file) = &self.file {
            return file.clone();
        }
        // A stranger may have put anything into the recording.
        let id = sanitised(&self.id);
        let (_, ending, _) = self.format();
        let part = match (self.scope, self.exchange) {
            (Scope::Exchange, Some((seq, _))) => format!("-{}", seq.0),
            (Scope::Filter, _) => "-filtered".to_owned(),
            (Scope::Marked, _) => "-marked".to_owned(),
            _ if self.is_copy() => "-copy".to_owned(),
            _ => String::new(),
        };
        format!("{id}{part}.{ending}")
    }

    fn is_copy(&self) -> bool {
        self.format == Format::Recording
    }
}
