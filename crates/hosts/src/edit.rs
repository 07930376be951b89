//! Puts the recorder in front of the command of a server, and takes it out again.
//!
//! ```text
//!  "command": "npx",                      "command": "mcpreel",
//!  "args": ["-y", "weather"]      ──▶     "args": ["run", "--name", "weather", "npx", "-y", "weather"]
//! ```
//!
//! Only those bytes change. [`unwrap`] knows our own words at the front, so nothing has to be
//! remembered, and gives back what was there: [`wrap`] refuses what could not be given back. What names a
//! server by its URL is changed in `url`.

mod url;

use super::document::{Document, Format, Kind, Node, SyntaxError};
use super::table::{Host, Server};
use serde_json::json;
use std::ops::Range;
use std::path::Path;
pub use url::named as named_url;

/// The words before the name of a server and its command.
const RUN: [&str; 2] = ["run", "--name"];

/// The options of `mcpreel run` that have no value.
pub const FLAGS: [&str; 3] = ["--demo", "--insecure", "--keep-credentials"];

/// A list that we have made begins so: no other list has a blank and then our words.
const MADE: &str = "[ ";

/// Why the command of a server is not changed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum EditError {
    #[error(
        "it is reached by a URL, in a form that mcpreel does not change: put `{0}` there as its command"
    )]
    Url(String),
    #[error("its URL is not an HTTP URL; `mcpreel proxy URL` records such servers")]
    NotHttp,
    #[error("mcpreel did not make this change: put the URL back yourself")]
    ByHand,
    #[error("its name is there twice, and hosts differ in which of them they take")]
    Twice,
    #[error("it has no command")]
    NoCommand,
    #[error("its command or arguments are written in a way that cannot be changed safely")]
    Unusual,
    #[error("the changed file could not be read again: {0}")]
    Broken(String),
}

impl From<SyntaxError> for EditError {
    fn from(error: SyntaxError) -> Self {
        Self::Broken(error.to_string())
    }
}

/// The words with which a server is started, where the entry has a command.
pub fn words(host: &Host, server: &Node) -> Option<Vec<String>> {
    let command = server.get(&host.command)?;
    let text = |node: &Node| node.text().map(str::to_owned);
    match &command.kind {
        Kind::List(all) => all.iter().map(text).collect(),
        Kind::Text(command) => {
            let args = server.get(&host.args).map_or(&[][..], Node::list);
            let args: Option<Vec<_>> = args.iter().map(text).collect();
            Some([vec![command.clone()], args?].concat())
        }
        _ => None,
    }
}

/// What is recorded by words that begin with the recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded<'w> {
    /// The command of the server itself.
    Command(&'w [String]),
    /// The URL of a server, which is reached through a bridge.
    Url(&'w str),
}

/// What is recorded by these words; `None` if they do not begin with the recorder.
pub fn recorded(words: &[String]) -> Option<Recorded<'_>> {
    named_recorded(words).map(|(_, recorded)| recorded)
}

/// The same behind the `--name` of the recording, where the words have one.
pub fn named_recorded(words: &[String]) -> Option<(Option<&str>, Recorded<'_>)> {
    let (command, rest) = words.split_first()?;
    if Path::new(command).file_name()? != "mcpreel" {
        return None;
    }
    let (first, own) = rest.split_first()?;
    match &**first {
        "--" => Some((None, command_of(own)?)),
        "run" => run(own),
        _ => None,
    }
}

/// What `mcpreel run` with these words records, and under which name.
fn run(mut words: &[String]) -> Option<(Option<&str>, Recorded<'_>)> {
    let (mut given, mut url) = (None, None);
    while let Some(option) = words.first().filter(|word| word.starts_with('-')) {
        words = &words[1..];
        if option == "--" {
            break;
        }
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, value),
            None if FLAGS.contains(&&**option) => continue,
            None => {
                let (value, rest) = words.split_first()?;
                words = rest;
                (&**option, &**value)
            }
        };
        match name {
            "--name" => given = Some(value),
            "--url" => url = Some(value),
            _ => {}
        }
    }
    let recorded = url.map(Recorded::Url).or_else(|| command_of(words));
    Some((given, recorded?))
}

fn command_of(words: &[String]) -> Option<Recorded<'_>> {
    (!words.is_empty()).then_some(Recorded::Command(words))
}

/// The text in which the server of this number is started through the program `recorder`; `None`
/// if it is already.
pub fn wrap(
    document: &Document,
    host: &Host,
    nth: usize,
    recorder: &str,
) -> Result<Option<String>, EditError> {
    let servers = host.servers(document);
    let server = servers.get(nth).ok_or(EditError::NoCommand)?;
    let words = words(host, server.node);
    let is_same = |one: &&Server<'_>| (&one.name, &one.within) == (&server.name, &server.within);
    if servers.iter().filter(is_same).count() > 1 {
        return Err(EditError::Twice);
    }
    if words.as_deref().and_then(recorded).is_some() {
        return Ok(None);
    }
    let changes = match &words {
        Some(_) => wrapping(document, host, server, recorder)?,
        None => url::wrapping(document, host, server, recorder)?,
    };
    let text = changed(&document.text, changes);
    // What was made is read again: nothing is written that could not be given back.
    let again = Document::parse(text.clone(), document.format)?;
    let servers = host.servers(&again);
    let entry = servers.get(nth).ok_or(EditError::Unusual)?;
    let now = self::words(host, entry.node).unwrap_or_default();
    let is_meant = match recorded(&now) {
        Some(Recorded::Command(own)) => words.as_deref() == Some(own),
        Some(Recorded::Url(own)) => named_url(host, server.node) == Some(own),
        None => false,
    };
    let back = unwrap(&again, host, nth)?;
    if is_meant && back.as_deref() == Some(&document.text) {
        Ok(Some(text))
    } else {
        Err(EditError::Unusual)
    }
}

/// Other bytes at a place.
type Change = (Range<usize>, String);

/// The changes that put the recorder in front of a command.
fn wrapping(
    document: &Document,
    host: &Host,
    server: &Server<'_>,
    recorder: &str,
) -> Result<Vec<Change>, EditError> {
    let (key, command) = server
        .node
        .member(&host.command)
        .ok_or(EditError::NoCommand)?;
    // No `--`: some hosts take it for their own.
    let mut ours = ours(&server.name);
    let first = command.list().first().unwrap_or(command);
    if first.text().is_some_and(|word| word.starts_with('-')) {
        ours.push(quote("--"));
    }
    if let Some(first) = command.list().first() {
        ours.insert(0, quote(recorder));
        return Ok(vec![before(document, first, &ours)]);
    }
    let literal = document.raw(&command.at).to_owned();
    let args = server.node.get(&host.args);
    let lines = args.and_then(|args| dash(document, args.list().first()?));
    if !fits(document, &literal, lines.is_some()) {
        return Err(EditError::Unusual);
    }
    ours.push(literal);
    let at_args = match args {
        None => {
            let (at, start) = inserted(document, server.node, key.at.start, command, &host.args);
            (at..at, format!("{start}{MADE}{}]", ours.join(", ")))
        }
        Some(Node {
            at,
            kind: Kind::List(words),
        }) => match words.first() {
            Some(first) => before(document, first, &ours),
            None => (at.start + 1..at.start + 1, ours.join(", ")),
        },
        Some(_) => return Err(EditError::Unusual),
    };
    Ok(vec![(command.at.clone(), quote(recorder)), at_args])
}

/// The words of ours behind the program, as they are written.
fn ours(name: &str) -> Vec<String> {
    let [run, option] = RUN;
    if name.starts_with('-') {
        vec![quote(run), quote(&format!("{option}={name}"))]
    } else {
        [run, option, name].map(quote).to_vec()
    }
}

fn quote(word: &str) -> String {
    json!(word).to_string()
}

/// The text in which the server of this number is started by its own command again; `None` if it is
/// already.
pub fn unwrap(document: &Document, host: &Host, nth: usize) -> Result<Option<String>, EditError> {
    let servers = host.servers(document);
    let server = servers.get(nth).ok_or(EditError::NoCommand)?.node;
    let words = words(host, server).unwrap_or_default();
    let own = match recorded(&words) {
        Some(Recorded::Command(own)) => own,
        Some(Recorded::Url(_)) => {
            let changes = url::unwrapping(host, server)?;
            return Ok(Some(changed(&document.text, changes)));
        }
        None => return Ok(None),
    };
    let (key, command) = server.member(&host.command).ok_or(EditError::NoCommand)?;
    let is_array = !command.list().is_empty();
    let list = if is_array {
        Some(command)
    } else {
        server.get(&host.args)
    };
    let list = list.ok_or(EditError::NoCommand)?;
    let elements = list.list();
    // The first word that stays in the list; the one before it is the command.
    let stays = elements.len() - own.len() + usize::from(!is_array);
    let (Some(front), Some(own)) = (elements.first(), elements.get(stays.max(1) - 1)) else {
        return Err(EditError::Unusual);
    };
    let begin = element_start(document, front);
    let removed = if let Some(next) = elements.get(stays) {
        begin..element_start(document, next)
    } else {
        let (at, start) = inserted(document, server, key.at.start, command, &host.args);
        let is_made = document.text.get(at..begin) == Some(&*(start + MADE));
        if is_made {
            at..list.at.end
        } else {
            begin..own.at.end
        }
    };
    let mut edits = vec![(removed, String::new())];
    if !is_array {
        edits.push((command.at.clone(), document.raw(&own.at).to_owned()));
    }
    Ok(Some(changed(&document.text, edits)))
}

/// The text with other bytes at some places, of which none lie in each other.
fn changed(text: &str, mut edits: Vec<Change>) -> String {
    edits.sort_by_key(|(at, _)| at.start);
    let mut text = text.to_owned();
    for (at, new) in edits.into_iter().rev() {
        text.replace_range(at, &new);
    }
    text
}

/// Where an element of a list begins: in a list of lines, as YAML has, at its dash.
fn element_start(document: &Document, element: &Node) -> usize {
    dash(document, element).unwrap_or(element.at.start)
}

/// The dash of an element of a list of lines.
fn dash(document: &Document, element: &Node) -> Option<usize> {
    let before = document.text[..element.at.start].trim_end_matches(' ');
    let at = before
        .strip_suffix('-')
        .filter(|_| document.format == Format::Yaml)?;
    let line = document.line(at.len()).start;
    document.text[line..at.len()]
        .trim()
        .is_empty()
        .then_some(at.len())
}

/// Puts words in front of the first element of a list.
fn before(document: &Document, first: &Node, words: &[String]) -> Change {
    let Some(at) = dash(document, first) else {
        let at = first.at.start;
        return (at..at, format!("{}, ", words.join(", ")));
    };
    let line = document.line(at);
    let (indent, eol) = (document.raw(&(line.start..at)), end_of_line(document));
    let words = words.iter();
    let words = words.map(|word| format!("- {word}{eol}{indent}"));
    (at..at, words.collect())
}

/// Where a list of arguments is put that is not there, and what stands before its words: behind the
/// command, in a table of lines on the next line.
fn inserted(
    document: &Document,
    server: &Node,
    key: usize,
    command: &Node,
    args: &str,
) -> (usize, String) {
    let colon = if document.format == Format::Toml {
        " = "
    } else {
        ": "
    };
    if document.text[server.at.start..].starts_with('{') {
        let quote = if matches!(document.format, Format::Json | Format::Jsonc) {
            "\""
        } else {
            ""
        };
        return (command.at.end, format!(", {quote}{args}{quote}{colon}"));
    }
    let line = document.line(command.at.end);
    let before = document.line(key).start..key;
    let before = match document.format {
        Format::Yaml => document.raw(&before).replace('-', " "),
        _ => document.raw(&before).to_owned(),
    };
    (
        line.end,
        format!("{}{before}{args}{colon}", end_of_line(document)),
    )
}

fn end_of_line(document: &Document) -> &'static str {
    if document.text.contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    }
}

/// Whether a word can stand in a list as it is written: one of YAML without quotes may have signs that
/// mean something between brackets.
fn fits(document: &Document, literal: &str, in_lines: bool) -> bool {
    let is_plain = document.format == Format::Yaml && !literal.starts_with(['"', '\'']);
    let is_odd = is_plain && !in_lines && literal.contains([',', '[', ']', '{', '}']);
    !is_odd && !literal.contains('\n')
}

#[cfg(test)]
mod edit_tests;
