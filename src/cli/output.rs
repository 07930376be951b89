//! The only place that prints. stdout is data, stderr is diagnostics.
//!
//! Only JSON is escaped here: whoever makes a line of something off the wire has passed it through
//! [`mcpreel_wire::text`] before. Once nobody reads stdout any more, what is written goes nowhere, and the
//! command goes on to its exit code; only a [stream](Output::stream), which would go on for nobody,
//! surfaces that as [`io::ErrorKind::BrokenPipe`], which [`super::exit`] takes for success.

use clap::builder::styling::{AnsiColor, Style};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_wire::text::escape::is_obeyed;
use mcpreel_wire::text::{escape, pad_end};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use textwrap::core::display_width;
use textwrap::{WordSeparator, WordSplitter};

/// The meaning of a piece of text; colour only repeats what the words say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Ordinary text.
    Plain,
    /// Headings and names.
    Strong,
    /// Less important text.
    Faint,
    /// Alive, well.
    Good,
    /// Something to look at.
    Warn,
    /// Failed.
    Bad,
}

impl Ink {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warn => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
        }
    }
}

/// stdout, with what is known about who looks at it.
pub struct Output {
    out: BufWriter<Pipe>,
    color: bool,
    columns: Option<usize>,
}

impl Output {
    /// The stdout of this process; what nobody reads is no error.
    pub fn stdout() -> Self {
        Self::new(false)
    }

    /// The stdout of this process for a command of whose output there may be no end, and whose exit
    /// code says nothing that its reader still wants: it ends when nobody reads any more.
    pub fn stream() -> Self {
        Self::new(true)
    }

    fn new(ends_unread: bool) -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let size = terminal.then(|| terminal_size::terminal_size_of(&stdout));
        let pipe = Pipe {
            out: Box::new(stdout.lock()),
            ends_unread,
        };
        Self {
            color: terminal && colors_wanted(),
            columns: size.flatten().map(|(width, _)| usize::from(width.0)),
            out: BufWriter::with_capacity(64 * 1024, pipe),
        }
    }

    /// The width of the terminal; `None` where nothing needs cutting.
    pub fn columns(&self) -> Option<usize> {
        self.columns
    }

    /// The text in its colour, where colours are wanted.
    pub fn paint(&self, ink: Ink, text: &str) -> String {
        if !self.color || ink == Ink::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = ink.style();
        format!("{style}{text}{style:#}")
    }

    /// Writes a line, or some; on a terminal that is too narrow a line goes on under its last column.
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        let columns = self.columns.unwrap_or(usize::MAX);
        for line in line.split('\n').flat_map(|line| wrapped(line, columns)) {
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    /// Writes a line in a colour.
    pub fn inked(&mut self, ink: Ink, line: &str) -> io::Result<()> {
        self.line(&self.paint(ink, line))
    }

    /// Writes a fact with its name on the left.
    pub fn fact(&mut self, name: &str, text: &str) -> io::Result<()> {
        let name = self.paint(Ink::Faint, &pad_end(name, 10));
        self.line(&format!("{name} {text}"))
    }

    /// Writes a value as JSON on one line; nothing in it is obeyed by a terminal.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut serializer = Serializer::with_formatter(&mut self.out, Plain);
        value.serialize(&mut serializer)?;
        self.out.write_all(b"\n")
    }

    /// Makes everything written so far visible.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A line in lines of so many columns: the others begin where its last column begins, which is
/// behind a gap in its first half.
fn wrapped(line: &str, columns: usize) -> Vec<Cow<'_, str>> {
    if display_width(line) <= columns {
        return vec![line.into()];
    }
    let ends = line.match_indices("  ").map(|(at, _)| {
        let rest = line[at..].trim_start_matches(' ');
        display_width(&line[..line.len() - rest.len()])
    });
    let column = ends.take_while(|end| *end < columns / 2).last();
    let indent = " ".repeat(column.unwrap_or(0));
    let options = textwrap::Options::new(columns).subsequent_indent(&indent);
    // A name with hyphens is copied: it stays whole.
    let options = options.word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(line, options.word_separator(WordSeparator::AsciiSpace))
        .into_iter()
        .map(|line| line.into_owned().into())
        .collect()
}

/// The bytes of a file format.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// stdout, whose reader may go.
struct Pipe {
    /// Takes what nobody reads as well.
    out: Box<dyn Write>,
    /// Whether a reader that goes is an error.
    ends_unread: bool,
}

impl Pipe {
    fn unless_closed<T>(&mut self, result: io::Result<T>, done: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe && !self.ends_unread => {
                self.out = Box::new(io::sink());
                Ok(done)
            }
            result => result,
        }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.unless_closed(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.unless_closed(flushed, ())
    }
}

/// JSON in which what a terminal obeys, and what changes the order of reading, is escaped: the
/// values are the same. Such characters stand only in strings; of JSON that is passed on as it was,
/// too.
struct Plain;

impl Formatter for Plain {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        plain(out, fragment)
    }

    fn write_raw_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        plain(out, fragment)
    }
}

fn plain<W: ?Sized + Write>(out: &mut W, text: &str) -> io::Result<()> {
    // White space between the values of JSON that is passed on stays what it is.
    let is_plain = |character: char| !is_obeyed(character) || character.is_ascii_whitespace();
    let mut rest = text;
    while let Some(at) = rest.find(|character| !is_plain(character)) {
        let (before, hostile) = rest.split_at(at);
        out.write_all(before.as_bytes())?;
        let mut characters = hostile.chars();
        // All of them are in the first plane of Unicode.
        let code = characters.next().map_or(0, u32::from);
        write!(out, "\\u{code:04x}")?;
        rest = characters.as_str();
    }
    out.write_all(rest.as_bytes())
}

fn colors_wanted() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !no_color && !is_dumb()
}

/// Whether the terminal cannot move its cursor.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The name of a file or folder, escaped.
pub fn shown(path: &Path) -> String {
    escape(&path.to_string_lossy()).into_owned()
}

/// The first `most` of the items, and how many more of `count` there are.
pub fn some(items: impl IntoIterator<Item = String>, count: u64, most: usize) -> Vec<String> {
    let mut some: Vec<_> = items.into_iter().take(most).collect();
    let more = count.saturating_sub(some.len() as u64);
    if more > 0 {
        some.push(format!("and {} more", mcpreel_wire::text::count(more)));
    }
    some
}

/// Writes a line of diagnostics to stderr, with our name in front; on a terminal it breaks between
/// words.
pub fn say(message: &str) {
    let stderr = io::stderr();
    let size = terminal_size::terminal_size_of(&stderr).filter(|_| stderr.is_terminal());
    let columns = size.map_or(usize::MAX, |(width, _)| usize::from(width.0));
    let message = format!("mcpreel: {message}");
    let lines = message.split('\n').flat_map(|line| wrapped(line, columns));
    raw_diagnostic(&(lines.collect::<Vec<_>>().join("\n") + "\n"));
}

/// Text for stderr that brings its own layout.
pub fn raw_diagnostic(text: &str) {
    // A stderr that nobody reads is no reason to fail, and there is no other place to say so.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Whether somebody is there to answer.
pub fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// The answer of a person.
pub fn ask(question: &str) -> io::Result<String> {
    raw_diagnostic(question);
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().to_lowercase())
}

/// Work that takes less time than this shows no progress, nanoseconds.
const SHORT_NS: u64 = 500_000_000;

/// The shortest time between two lines of progress, nanoseconds.
const BETWEEN_NS: u64 = 100_000_000;

/// A line on a terminal's stderr that is written over until it is done; silent elsewhere.
pub struct Progress {
    /// `None` without a terminal.
    clock: Option<Clock>,
    is_shown: bool,
    next: Moment,
}

impl Progress {
    pub fn stderr() -> Self {
        Self {
            clock: io::stderr().is_terminal().then(Clock::start),
            is_shown: false,
            next: Moment(SHORT_NS),
        }
    }

    /// Shows a message in place of the one before, if it takes long and it is time for another.
    pub fn now_and_then(&mut self, message: impl FnOnce() -> String) {
        let now = self.clock.map(|clock| clock.now());
        if let Some(now) = now.filter(|now| *now >= self.next) {
            self.next = Moment(now.0 + BETWEEN_NS);
            raw_diagnostic(&format!("\r\x1b[Kmcpreel: {}", message()));
            self.is_shown = true;
        }
    }

    /// Takes it off the terminal, so that something else can be written.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            raw_diagnostic("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    fn json(value: &impl Serialize) -> String {
        let mut out = Vec::new();
        let mut serializer = Serializer::with_formatter(&mut out, Plain);
        value.serialize(&mut serializer).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_that_is_too_long_goes_on_between_words_under_its_last_column() {
        let line = "\u{1b}[31merror\u{1b}[0m    #12  no tool of this name";
        assert_eq!(wrapped(line, 34).len(), 1, "colours take no room");
        assert_eq!(wrapped(line, 30)[1..], ["              name"]);
        assert_eq!(wrapped("one two-three", 9), ["one", "two-three"]);
    }

    #[test]
    fn json_is_the_same_value_without_what_a_terminal_obeys() {
        let hostile = "\u{1b}a\u{7f}\u{9b}31m\u{202e}b\u{2066}\u{2028}é😀\n";
        let written = json(&hostile);
        assert_eq!(
            written,
            "\"\\u001ba\\u007f\\u009b31m\\u202eb\\u2066\\u2028é😀\\n\""
        );
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), hostile);
        let raw = "{\"a\u{202e}\" :\t\"\u{9b}\"}".to_owned();
        let raw = RawValue::from_string(raw).unwrap();
        assert_eq!(json(&raw), "{\"a\\u202e\" :\t\"\\u009b\"}");
    }
}
