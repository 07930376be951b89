//! An export: the form that asks, and writing the file on a thread of its own; and the report of
//! an exchange for the clipboard, which is made alike.
//!
//! ```text
//!  ┌ export 7f3a9c21 ───────────────────────────────────────────────────┐
//!  │ Redacted: what has the shape or the name of a secret is replaced.  │
//!  │ One without either stays: look through the file before you hand it │
//!  │ on.                                                                │
//!  │                                                                    │
//!  │ y  write it as jsonl to 7f3a9c21.jsonl, in the folder where …      │
//!  │ w  what: all of it, 1 of 3                                         │
//!  │ r  leave the secrets in                                            │
//!  │ n  another file name                                               │
//!  │ l  jsonl      a line per frame or event; mcpreel reads it again    │
//!  └─────────────────────────────────── Enter chooses, Esc closes ──────┘
//! ```

use super::menu::{Entry, Menu};
use super::prompt::Prompt;
use super::{copy, running, selection};
use crate::action::Action;
use crate::app::{App, Session, Viewer};
use crate::effect::Effects;
use crate::theme::{Glyph, Role};
use crate::worker::{Answer, Failure, Place, Slot, Which};
use mcpreel_redact::Policy;
use mcpreel_share::export::Selection;
use mcpreel_share::export::otlp::Bodies;
use mcpreel_share::outgoing::file::{Replace, WholeError};
use mcpreel_share::outgoing::{self, ExportError, Format, Saved, Stage, Stopped};
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::{Entry as Reel, Standing, sanitised};
use mcpreel_store::reader::Recording;
use mcpreel_store::select::{self, Question};
use mcpreel_trace::clock::{Moment, wall_clock_ns};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, Lens};
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{cut, escape, plural, size};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The time between two reports of progress, nanoseconds.
const EVERY_NS: u64 = 100_000_000;

/// Columns of the filter in the form.
const FILTER: usize = 60;

const REDACTED: &str = "Redacted: what has the shape or the name of a secret is replaced, and so \
    is the same value elsewhere. A secret without either stays: look through the file before you \
    hand it on.";

const RAW: &str = "Not redacted: every secret that was said stands in the file.";

/// The formats: the letter that chooses each (one that moves no cursor), its name, the end of its
/// file name.
const FORMATS: [(Format, char, &str, &str); 7] = [
    (Format::Jsonl, 'l', "jsonl", "jsonl"),
    (Format::Markdown, 'm', "markdown", "md"),
    (Format::Html, 'h', "html", "html"),
    (Format::Otlp, 'o', "otlp", "otlp.jsonl"),
    (Format::Perfetto, 'p', "perfetto", "perfetto.json"),
    (Format::Har, 'a', "har", "har"),
    (Format::Recording, 'c', "recording", "reel"),
];

fn about(format: Format) -> &'static str {
    match format {
        Format::Jsonl => "a line per frame or event; mcpreel reads it again",
        Format::Markdown => "a bug report: what happened and why",
        Format::Html => "a page for a browser, in one file",
        Format::Otlp => "a trace for OpenTelemetry, without bodies",
        Format::Perfetto => "a trace for Perfetto or Chrome",
        Format::Har => "the HTTP, as browsers keep it",
        Format::Recording => "a recording, in one plain file",
    }
}

/// An export as it was chosen so far.
#[derive(Clone, Debug, Default)]
struct Offer {
    path: PathBuf,
    id: String,
    /// The place in [`FORMATS`].
    format: usize,
    /// The parts of the recording that can be written; `scope` is the chosen one.
    scopes: Vec<Scope>,
    scope: usize,
    is_raw: bool,
    /// The file, where another name was chosen.
    file: Option<String>,
}

/// A part of the recording.
#[derive(Clone, Debug)]
struct Scope {
    label: String,
    /// The part of the file name.
    part: String,
    /// The rows of the part; none for all of the recording.
    rows: Option<Question>,
}

impl Scope {
    fn new(label: impl Into<String>, part: impl Into<String>, rows: Option<Question>) -> Self {
        let (label, part) = (label.into(), part.into());
        Self { label, part, rows }
    }

    fn all() -> Self {
        Self::new("all of it", "", None)
    }

    /// What fits a filter of ours.
    fn fitting(label: &str, part: &str, filter: &str) -> Self {
        let query = Query::parse(filter).expect("it is a filter");
        let rows = Question::new(Lens::default(), query);
        Self::new(label, format!("-{part}"), Some(rows))
    }

    fn marked() -> Self {
        Self::fitting("what is marked", "marked", "is:marked")
    }

    /// The exchange with this request.
    fn exchange(Seq(seq): Seq) -> Self {
        let label = format!("this exchange, #{seq}");
        Self::fitting(&label, &seq.to_string(), &format!("seq:{seq}"))
    }
}

impl Offer {
    fn scope(&self) -> &Scope {
        &self.scopes[self.scope]
    }

    /// The file that is written, as it was typed or is proposed.
    fn file(&self) -> String {
        let (format, .., ending) = FORMATS[self.format];
        let part = match &*self.scope().part {
            "" if format == Format::Recording => "-copy",
            part => part,
        };
        // A stranger may have put any id into the recording.
        let proposed = || format!("{}{part}.{ending}", sanitised(&self.id));
        self.file.clone().unwrap_or_else(proposed)
    }
}

/// Offers an export of the recording under the cursor.
pub fn perform_in_library(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Export {
        return None;
    }
    let entry = app.library.current()?;
    let (path, id) = (entry.path.clone(), entry.id.clone());
    Some(begin(app, path, id, vec![Scope::all(), Scope::marked()]))
}

/// Offers an export of the recording that is open.
pub fn perform_in_session(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    if action != Action::Export {
        return None;
    }
    let Some(vitals) = session.vitals.as_deref() else {
        return Some(app.refuse("the recording is not open yet"));
    };
    let mut scopes = vec![Scope::all()];
    if session.filter.is_on() {
        // The text that was typed last may be no filter, and another one still in force.
        let question = selection::question(session);
        let text = cut(&escape(&question.query.to_string()), FILTER);
        let label = format!("what the filter shows: {text}");
        scopes.push(Scope::new(label, "-filtered", Some(question)));
    }
    scopes.push(Scope::marked());
    scopes.extend(exchange(session).map(Scope::exchange));
    let id = vitals.summary.id.clone();
    Some(begin(app, session.path.clone(), id, scopes))
}

/// The request of the exchange that is selected.
pub fn exchange(session: &Session) -> Option<Seq> {
    let exchange = selection::item(session).and_then(Item::exchange);
    exchange.map(|exchange| exchange.request.0)
}

/// Shows the form. Nothing is written yet.
fn begin(app: &mut App, path: PathBuf, id: String, scopes: Vec<Scope>) -> Effects {
    if running::is_busy(app, Slot::Export) {
        return vec![];
    }
    let offer = Offer {
        path,
        id,
        scopes,
        format: app.export_format,
        ..Offer::default()
    };
    show(app, offer)
}

fn show(app: &mut App, offer: Offer) -> Effects {
    let menu = form(app, offer);
    app.push(menu)
}

/// The form. Every choice shows it anew with something changed.
fn form(app: &App, offer: Offer) -> Menu {
    let look = &app.settings.look;
    let (text, secrets) = if offer.is_raw {
        let text = format!("{} {RAW}", look.glyph(Glyph::Warning));
        ((Role::Bad, text), "take the secrets out")
    } else {
        ((Role::Faint, REDACTED.to_owned()), "leave the secrets in")
    };
    let what = &offer.scope().label;
    let (scope, scopes) = ((offer.scope + 1) % offer.scopes.len(), offer.scopes.len());
    let what = format!("what: {what}, {} of {scopes}", offer.scope + 1);
    let changed = |letter, label: String, change: &dyn Fn(&mut Offer)| {
        let mut offer = offer.clone();
        change(&mut offer);
        Entry::new(letter, label, |viewer| show(&mut viewer.app, offer))
    };
    let mut entries = vec![
        changed('w', what, &|offer| offer.scope = scope),
        changed('r', secrets.to_owned(), &|offer| offer.is_raw ^= true),
    ];
    let renamed = offer.clone();
    entries.push(Entry::new('n', "another file name", |viewer| {
        ask_name(&mut viewer.app, renamed)
    }));
    for (at, (format, letter, name, _)) in FORMATS.into_iter().enumerate() {
        let label = format!("{name:<10} {}", about(format));
        entries.push(changed(letter, label, &|offer| offer.format = at));
    }
    let title = format!("export {}", escape(&offer.id));
    let (_, _, format, _) = FORMATS[offer.format];
    let file = offer.file();
    let is_path = file.contains(std::path::MAIN_SEPARATOR);
    let folder = ["in the folder where the viewer was started", ""][usize::from(is_path)];
    let write_it = format!("write it as {format} to {}, {folder}", escape(&file));
    let write_it = write_it.trim_end_matches(", ").to_owned();
    let write_it = Entry::new('y', write_it, |viewer| {
        start(&mut viewer.app, offer, Replace::No)
    });
    entries.insert(0, write_it);
    Menu {
        text: vec![text],
        ..Menu::new(title, entries)
    }
}

/// Asks for another file name, on top of the form; an empty one proposes one.
fn ask_name(app: &mut App, offer: Offer) -> Effects {
    show(app, offer.clone());
    let hint = "Enter keeps it, empty proposes one, Esc leaves";
    let name = offer.file();
    let prompt = Prompt::new("file", hint, &name, move |viewer, name| {
        viewer.app.overlays.pop();
        let file = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        show(&mut viewer.app, Offer { file, ..offer })
    });
    app.push(prompt)
}

fn start(app: &mut App, offer: Offer, may: Replace) -> Effects {
    app.export_format = offer.format;
    let work = move |place: &Place<'_>| write(offer, may, place);
    running::start(app, Slot::Export, "reading the recording", work)
}

/// Writes the file; it appears when it is whole.
fn write(offer: Offer, may: Replace, place: &Place<'_>) -> Result<Answer, Failure> {
    let (recording, frames, now, selection) = picked(place, &offer.path, offer.scope())?;
    if selection.is_empty() {
        let text = "nothing on record fits, so nothing was written";
        return Err(Failure(text.to_owned()));
    }
    let policy = (!offer.is_raw).then(|| policy(place));
    let order = outgoing::Order {
        format: FORMATS[offer.format].0,
        bodies: Bodies::Without,
        selection: &selection,
        now,
        policy: policy.transpose()?,
    };
    let file = offer.file();
    let target = std::path::absolute(&file).unwrap_or_else(|_| PathBuf::from(&file));
    let mut tell = progress(place, frames);
    match outgoing::save(&recording, &order, &target, may, &mut tell) {
        Ok(saved) => Ok(Answer::new(move |viewer| {
            done(&mut viewer.app, &saved, &file, now.is_some())
        })),
        Err(ExportError::Whole(WholeError::IsThere(_))) => {
            Ok(Answer::new(|viewer| viewer.app.push(is_there(offer))))
        }
        Err(error) => Err(unwritten(&error)),
    }
}

fn progress(place: &Place<'_>, frames: u64) -> impl FnMut(Stage) -> Result<(), Stopped> {
    let mut told = None::<Moment>;
    move |stage: Stage| {
        if place.is_stopped() {
            return Err(Stopped);
        }
        let now = place.means.clock.now();
        if told.is_none_or(|told| now.0.saturating_sub(told.0) >= EVERY_NS) {
            told = Some(now);
            running::progress(place, Slot::Export, stage.in_words(frames));
        }
        Ok(())
    }
}

fn policy(place: &Place<'_>) -> Result<Arc<Policy>, Failure> {
    (place.means.policy)().map_err(Failure)
}

fn unwritten(error: &ExportError) -> Failure {
    Failure(match error {
        ExportError::Stopped(_) => "stopped: nothing was written".to_owned(),
        error => sentence(error),
    })
}

fn done(app: &mut App, saved: &Saved, file: &str, is_live: bool) -> Effects {
    let mut text = saved.text.clone();
    if is_live {
        text.push_str("; it is still recorded: what comes from now on is not in it");
    }
    // In full for whoever looks at the messages: the screen may be narrow.
    app.say(text);
    let redacted = match &saved.report {
        None => "not redacted".to_owned(),
        Some(report) => format!("redacted in {}", plural(report.hits(), "place")),
    };
    let size = size(saved.bytes);
    app.say(format!("{size} in {}, {redacted}", escape(file)))
}

/// A file of that name is there already. The cursor is on the answer that does no harm.
fn is_there(offer: Offer) -> Menu {
    let title = format!("{} exists: replace it?", escape(&offer.file()));
    let entries = vec![
        Entry::nothing('n', "no, leave it as it is"),
        Entry::new('y', "yes, replace it", |viewer| {
            start(&mut viewer.app, offer, Replace::Yes)
        }),
    ];
    Menu::new(title, entries)
}

/// A recording that is written: how many frames it has, the time in it if it is still made, and the
/// frames that are written.
type Picked = (Recording, u64, Option<Moment>, Selection);

fn picked(place: &Place<'_>, path: &Path, scope: &Scope) -> Result<Picked, Failure> {
    let recording = place.open(&Which::File(path.to_owned()))?;
    let summary = recording.summary()?;
    let is_live = Reel::read(path).standing == Standing::Live;
    let now = is_live.then(|| Moment(wall_clock_ns().saturating_sub(summary.wall_ns)));
    let mut selection = Selection::between(None, None);
    if let Some(rows) = &scope.rows {
        selection = selection.picked(&rows.query.to_string());
        let context = select::context(&summary, now.map(|_| wall_clock_ns()));
        outgoing::pick_rows(&recording, rows, context, &mut selection)?;
    }
    Ok((recording, summary.frames, now, selection))
}

/// Has the exchange with this request told in Markdown, redacted, for the clipboard.
pub fn report(app: &mut App, session: &Session, request: Seq) -> Effects {
    let path = session.path.clone();
    let work = move |place: &Place<'_>| {
        let scope = Scope::exchange(request);
        let (recording, frames, now, selection) = picked(place, &path, &scope)?;
        let order = outgoing::Order {
            format: Format::Markdown,
            bodies: Bodies::Without,
            selection: &selection,
            now,
            policy: Some(policy(place)?),
        };
        let (mut text, mut tell) = (Vec::new(), progress(place, frames));
        let written = outgoing::write(&recording, &order, &mut text, &mut tell);
        written.map_err(|error| unwritten(&error))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Answer::new(|viewer: &mut Viewer| {
            copy::put(&mut viewer.app, text, ", redacted: look through it")
        }))
    };
    running::start(app, Slot::Export, "reading the recording", work)
}
