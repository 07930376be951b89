//! The recordings of the folder, as they were listed last, and what is said of each.

use super::why;
use crate::notice::Now;
use crate::theme::{Glyph, Role};
use crate::widget::cursor::Rows;
use mcpreel_share::phrases::recording::{self, host};
use mcpreel_share::phrases::{self, sentence, when};
use mcpreel_store::library::{Details, Entry, Standing};
use mcpreel_store::reader::Summary;
use mcpreel_store::schema::State;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::ProcessContext;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{escape, size};
use std::borrow::Borrow;
use std::cmp::Reverse;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct Shelf {
    pub dir: PathBuf,
    /// Servers of hosts that could be recorded: what they are called, and `HOST:SERVER`.
    pub servers: Vec<(String, String)>,
    /// Finds those, as soon as they are wanted.
    pub find_servers: Option<FindServers>,
    pub listing: Listing,
    /// All recordings: live ones first, then the newest.
    pub rows: Vec<Row>,
    /// The order of the rows, if it is another one.
    pub order: Order,
    /// The recording under the cursor; none, until the cursor is moved, means the first.
    pub cursor: Rows<PathBuf>,
    /// The recordings that are marked: to be compared, if they are two, or deleted.
    pub marked: Vec<PathBuf>,
    /// Only recordings with this text are shown.
    pub narrow: String,
    /// When it was listed last; none if it is to be listed as soon as possible.
    pub listed: Option<Now>,
    pub is_asked: bool,
}

/// Looks through the configurations of hosts, which takes some milliseconds.
pub type FindServers = fn() -> Vec<(String, String)>;

/// A recording, and what went wrong in it, if that is known.
#[derive(Clone, Debug)]
pub struct Row {
    pub entry: Arc<Entry>,
    pub why: Arc<str>,
    /// The oldest calls of a live recording that wait for an answer, a few.
    pub open: Arc<[Exchange]>,
}

impl Borrow<Entry> for Row {
    fn borrow(&self) -> &Entry {
        &self.entry
    }
}

impl Deref for Row {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Live ones first, then the newest.
    #[default]
    Age,
    Name,
    State,
    Calls,
    Failed,
    Size,
    Duration,
    Server,
}

impl Order {
    fn key(self, row: &Row) -> (Reverse<u64>, String) {
        let most =
            |count: fn(&Summary) -> u64| (Reverse(row.summary().map_or(0, count)), String::new());
        match self {
            Self::Age => Default::default(),
            Self::Name => (Reverse(0), title(row).to_lowercase()),
            Self::State => (Reverse(0), state(row).2),
            Self::Calls => most(|summary| summary.exchanges),
            Self::Failed => most(|summary| summary.failed),
            Self::Duration => most(|summary| summary.t_last_ns),
            Self::Size => (Reverse(row.size), String::new()),
            // Servers that have not said who they are come last.
            Self::Server => match recording::server(row) {
                Some(server) => (Reverse(1), server.to_lowercase()),
                None => Default::default(),
            },
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    #[default]
    Asked,
    Known,
    /// The folder cannot be read: one sentence, escaped.
    Unreadable(String),
}

impl Shelf {
    pub fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            ..Self::default()
        }
    }

    pub fn shown(&self) -> Vec<&Row> {
        let words = self.narrow.split_whitespace().map(str::to_lowercase);
        let words: Vec<_> = words.collect();
        let wall_ns = self.listed.map_or(0, |listed| listed.wall_ns);
        let fits = |row: &&Row| words.is_empty() || has(row, wall_ns, &words);
        let mut shown: Vec<_> = self.rows.iter().filter(fits).collect();
        shown.sort_by_cached_key(|row| self.order.key(row));
        shown
    }

    /// The files of the rows that are shown, by which the cursor knows them.
    pub fn ids(&self) -> Vec<PathBuf> {
        let shown = self.shown().into_iter();
        shown.map(|row| row.path.clone()).collect()
    }

    /// The recording under the cursor.
    pub fn current(&self) -> Option<&Row> {
        let at = self.cursor.at(&self.ids());
        self.shown().get(at).copied()
    }
}

/// The one word of the language of filters that the list of recordings knows.
const FAILED: &str = "is:failed";

/// What people type for it, who do not know that language.
const WORDS_FOR_IT: [&str; 3] = ["fail", "failed", "error"];

/// Whether every one of these words, in lower case, stands somewhere in what is shown of it.
fn has(entry: &Row, wall_ns: u64, words: &[String]) -> bool {
    let [who, how] = said(entry, wall_ns).map(|parts| parts.join("; "));
    let host = host(entry).unwrap_or_default();
    let command = entry
        .context()
        .map(|context| phrases::command(&context.argv));
    let path = entry.path.to_string_lossy().into_owned();
    let command = command.unwrap_or_default();
    let text = [who, how, state(entry).2, title(entry), host, command, path];
    let text = text.join("\n").to_lowercase();
    let is_flag = |word: &str| word == FAILED || WORDS_FOR_IT.contains(&word);
    let mut words = words.iter().map(String::as_str);
    words.all(|word| text.contains(word) || is_flag(word) && entry.has_failed())
}

/// The name of a recording's file, escaped.
pub fn file_name(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    escape(&file).into_owned()
}

/// The state of a recording, or its end where all of it is there. Missing bytes come first: nobody is to
/// take the rest for the whole.
pub fn state(entry: &Entry) -> (Glyph, Role, String) {
    let word = entry.state().to_owned();
    let summary = entry.summary();
    let gap = summary.map_or(0, |summary| summary.gap_bytes);
    let word = match (entry.standing, summary.and_then(end_of)) {
        (Standing::Live, _) if gap > 0 => "live, gap".to_owned(),
        (Standing::Finished, _) if gap > 0 => format!("gap {}", size(gap)),
        (Standing::Finished, Some((end, context))) => phrases::end_short(end, context),
        _ => word,
    };
    let (glyph, role) = sign(entry.standing, summary);
    (glyph, role, word)
}

/// The end of a recording of which all is there, and what was recorded.
fn end_of(summary: &Summary) -> Option<(&End, &ProcessContext)> {
    let end = summary.session.phase.end().unwrap_or(&End::Unknown);
    (summary.state == State::Complete).then_some((end, &summary.context))
}

/// The sign of such a state, wherever it is shown.
pub fn sign(standing: Standing, summary: Option<&Summary>) -> (Glyph, Role) {
    let has_gap = summary.is_some_and(|summary| summary.gap_bytes > 0);
    match (standing, summary.and_then(end_of)) {
        (Standing::Unreadable, _) => (Glyph::Failed, Role::Bad),
        (Standing::Live, _) if !has_gap => (Glyph::Live, Role::Good),
        (Standing::Finished, Some((end, context))) if !has_gap => match end {
            End::Exited { code: 0 } => (Glyph::Ended, Role::Faint),
            End::Unknown if context.url.is_some() => (Glyph::Ended, Role::Faint),
            End::Unknown => (Glyph::Warning, Role::Warn),
            _ => (Glyph::Failed, Role::Bad),
        },
        _ => (Glyph::Warning, Role::Warn),
    }
}

pub fn title(entry: &Entry) -> String {
    recording::title(entry).unwrap_or_else(|| file_name(&entry.path))
}

/// The note on a recording, what a live one waits for, what went wrong, why it cannot be read.
pub fn wrong(entry: &Row, wall_ns: u64) -> String {
    let mut notes = recording::notes(entry);
    let now = Moment(wall_ns.saturating_sub(entry.wall_ns));
    notes.extend(why::waiting(&entry.open, now));
    notes.extend(Some(escape(&entry.why).into_owned()).filter(|why| !why.is_empty()));
    if let Details::Unreadable(error) = &entry.details {
        // The name of the file stands in the row already.
        let sentence = sentence(error);
        let file = entry.path.display().to_string();
        let why = sentence.strip_prefix(&file).unwrap_or(&sentence);
        notes.push(why.trim_start().to_owned());
    }
    notes.join("; ")
}

/// More about a recording: who spoke to it and what was started; how it stands, what is missing,
/// what somebody wrote.
pub fn about(entry: &Row, wall_ns: u64) -> [String; 2] {
    let [mut who, how] = said(entry, wall_ns);
    who.extend(entry.context().map(|context| match &context.url {
        Some(url) => escape(url).into_owned(),
        None => phrases::started(context),
    }));
    [who.join("; "), how.join("; ")]
}

/// The same without what was started.
fn said(entry: &Row, wall_ns: u64) -> [Vec<String>; 2] {
    let mut who = vec![
        escape(&entry.name).into_owned(),
        when::short(entry.wall_ns),
        size(entry.size),
    ];
    who.extend(recording::origin(entry));
    let wrong =
        Some(wrong(entry, wall_ns)).filter(|wrong| !wrong.is_empty() && entry.is_readable());
    let mut how: Vec<_> = wrong.into_iter().chain([standing(entry)]).collect();
    if let Some(summary) = entry.summary() {
        let client = phrases::peer(&summary.session.client);
        who.extend(client.map(|client| format!("for {client}")));
        how.extend(summary.parent.as_ref().map(|parent| {
            let (origin, parent) = (escape(&summary.origin), escape(parent));
            format!("{origin} of {parent}; P compares them")
        }));
    }
    how.extend(entry.summary().and_then(recording::other_side));
    [who, how]
}

fn standing(entry: &Entry) -> String {
    let end = entry.end().map(phrases::end).unwrap_or_default();
    let recovered = |summary: &Summary| summary.state == State::Recovered;
    let text = match entry.standing {
        Standing::Live => "being recorded",
        Standing::Pending => "the session is over; the rest of it is indexed when it is opened",
        Standing::Interrupted => {
            "the recorder was killed; what its spool still holds is added when it is opened"
        }
        Standing::Cut => "a copy that was made while it was recorded: it may be short",
        _ if entry.summary().is_some_and(recovered) => {
            return format!("the recorder was killed, and it was completed from its spool; {end}");
        }
        _ => match &entry.details {
            Details::Unreadable(error) => return sentence(error),
            _ => return end,
        },
    };
    text.to_owned()
}
