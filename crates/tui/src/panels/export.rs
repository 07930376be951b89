//! An export: the form that asks, and writing the file on a thread of its own; and the report of
//! an exchange for the clipboard, which is made alike.
//!
//! ```text
//!  ┌ export 7f3a9c21 ───────────────────────────────────────────────────┐
//!  │ Redacted: what has the shape or the name of a secret is replaced.  │
//!  │ One without either stays: look through the file before you hand it │
//!  │ on.                                                                │
//!  │                                                                    │
//!  │ y  write it to 7f3a9c21.jsonl                                      │
//!  │ f  format: jsonl, a line per frame or event; …                     │
//!  │ w  what: all of it                                                 │
//!  │ r  leave the secrets in                                            │
//!  │ n  another file name                                               │
//!  └─────────────────────────────────────── Enter chooses, Esc closes ──┘
//! ```

use super::prompt::{Prompt, Purpose};
use super::running;
use crate::action::Action;
use crate::app::{App, Overlay, Session, Viewer};
use crate::effect::Effects;
use crate::panels::menu::{Entry, Menu};
use crate::theme::{Glyph, Role};
use crate::worker::{Answer, Place, Slot, Which};
use mcpreel_redact::{Policy, Report};
use mcpreel_share::export::otlp::Bodies;
use mcpreel_share::export::{Selection, markdown};
use mcpreel_share::outgoing::file::{Replace, WholeError};
use mcpreel_share::outgoing::{self, ExportError, Format, Saved, Stage, Stopped, redacted};
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::{Entry as Reel, Standing, sanitised};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::{self, Question};
use mcpreel_trace::clock::{Moment, wall_clock_ns};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Item;
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{cut, escape, plural, size};
use std::path::PathBuf;
use std::sync::Arc;

/// The time between two reports of progress, nanoseconds.
const EVERY_NS: u64 = 100_000_000;

/// Columns of the filter in the form.
const FILTER: usize = 60;

/// The filter of marked rows.
const MARKED: &str = "is:marked";

/// The limits of redaction, in short.
const REDACTED: &str = "Redacted: what has the shape or the name of a secret is replaced, and so \
    is the same value elsewhere. A secret without either stays: look through the file before you \
    hand it on.";

const RAW: &str = "Not redacted: every secret that was said stands in the file.";

const FORMATS: [Format; 7] = [
    Format::Jsonl,
    Format::Text,
    Format::Markdown,
    Format::Html,
    Format::Otlp,
    Format::Perfetto,
    Format::Recording,
];

/// The letter that chooses a format (one that moves no cursor), its name, the end of its file name.
fn names(format: Format) -> (char, &'static str, &'static str) {
    match format {
        Format::Jsonl => ('l', "jsonl", "jsonl"),
        Format::Text => ('t', "text", "txt"),
        Format::Markdown => ('m', "markdown", "md"),
        Format::Html => ('h', "html", "html"),
        Format::Otlp => ('o', "otlp", "otlp.jsonl"),
        Format::Perfetto => ('p', "perfetto", "perfetto.json"),
        Format::Recording => ('r', "recording", "reel"),
    }
}

fn about(format: Format) -> &'static str {
    match format {
        Format::Jsonl => "a line per frame or event; mcpreel reads it again",
        Format::Text => "a transcript for reading",
        Format::Markdown => "a bug report: what happened and why",
        Format::Html => "a page for a browser, in one file",
        Format::Otlp => "a trace for OpenTelemetry, without bodies",
        Format::Perfetto => "a trace for Perfetto or Chrome",
        Format::Recording => "a recording, in one plain file",
    }
}

/// The export that is asked about, with the choices so far.
#[derive(Debug)]
pub struct Offer {
    path: PathBuf,
    id: String,
    format: Format,
    scope: Scope,
    /// The filter that is in force, as text too.
    filter: Option<(String, Question)>,
    /// The request of the exchange that is selected.
    exchange: Option<(Seq, u32)>,
    is_raw: bool,
    /// The file, where another name was chosen.
    file: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    All,
    Filter,
    Marked,
    Exchange,
}

impl Offer {
    /// The file that is written, as it was typed or is proposed.
    fn file(&self) -> String {
        if let Some(file) = &self.file {
            return file.clone();
        }
        // A stranger may have put any id into the recording.
        let id = sanitised(&self.id);
        let (.., ending) = names(self.format);
        let part = match (self.scope, self.exchange) {
            (Scope::Exchange, Some((seq, _))) => format!("-{}", seq.0),
            (Scope::Filter, _) => "-filtered".to_owned(),
            (Scope::Marked, _) => "-marked".to_owned(),
            _ if self.format == Format::Recording => "-copy".to_owned(),
            _ => String::new(),
        };
        format!("{id}{part}.{ending}")
    }

    /// The parts that can be written: the letter that chooses each, and what it is.
    fn scopes(&self) -> Vec<(char, Scope, String)> {
        let filter = self.filter.as_ref().map(|(text, _)| {
            let text = cut(&escape(text), FILTER);
            ('f', Scope::Filter, format!("what the filter shows: {text}"))
        });
        let exchange = self.exchange.map(|(seq, _)| {
            let label = format!("this exchange, #{}", seq.0);
            ('e', Scope::Exchange, label)
        });
        let mut scopes = vec![('a', Scope::All, "all of it".to_owned())];
        scopes.extend(filter);
        scopes.push(('m', Scope::Marked, "what is marked".to_owned()));
        scopes.extend(exchange);
        scopes
    }
}

/// Offers an export of the recording under the cursor.
pub fn perform_in_library(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Export {
        return None;
    }
    let entry = &app.library.current()?.entry;
    let (path, id) = (entry.path.clone(), entry.id.clone());
    Some(offer(app, path, id, None, None))
}

/// Offers an export of the recording that is open.
pub fn perform_in_session(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    if action != Action::Export {
        return None;
    }
    let Some(vitals) = session.vitals.as_deref() else {
        app.notices.error("the recording is not open yet", app.now);
        return Some(vec![]);
    };
    let (path, id) = (session.path.clone(), vitals.summary.id.clone());
    // The text that was typed last may be no filter, and another one still in force.
    let question = super::selection::question(session);
    let filter = (question.query.to_string(), question);
    let filter = session.filter.is_on().then_some(filter);
    Some(offer(app, path, id, filter, exchange(session)))
}

/// The request of the exchange that is selected.
fn exchange(session: &Session) -> Option<(Seq, u32)> {
    let exchange = super::selection::item(session).and_then(Item::exchange);
    exchange.map(|exchange| exchange.request)
}

/// Shows the form. Nothing is written yet.
fn offer(
    app: &mut App,
    path: PathBuf,
    id: String,
    filter: Option<(String, Question)>,
    exchange: Option<(Seq, u32)>,
) -> Effects {
    if running::is_busy(app, Slot::Export) {
        return vec![];
    }
    app.forms.keep(Offer {
        path,
        id,
        format: Format::Jsonl,
        scope: Scope::All,
        filter,
        exchange,
        is_raw: false,
        file: None,
    });
    change(app, |_| ())
}

/// Changes what was chosen, and shows the form in place of the one that is shown.
fn change(app: &mut App, change: impl FnOnce(&mut Offer)) -> Effects {
    if let Some(offer) = app.forms.get_mut::<Offer>() {
        change(offer);
        let menu = form(app.settings.look.glyph(Glyph::Warning), offer);
        let top = app.top::<Menu>();
        if top.is_some_and(|menu| menu.about == Some(Slot::Export)) {
            app.overlays.pop();
        }
        app.push(menu);
    }
    vec![]
}

fn form(warning: &str, offer: &Offer) -> Menu {
    let (text, secrets) = if offer.is_raw {
        let text = format!("{warning} {RAW}");
        ((Role::Bad, text), "take the secrets out")
    } else {
        ((Role::Faint, REDACTED.to_owned()), "leave the secrets in")
    };
    let (_, format, _) = names(offer.format);
    let format = format!("format: {format}, {}", about(offer.format));
    let mut scopes = offer.scopes().into_iter();
    let scope = scopes.find(|(_, scope, _)| *scope == offer.scope);
    let scope = scope.map_or(String::new(), |(.., label)| format!("what: {label}"));
    let write = format!("write it to {}", escape(&offer.file()));
    let entries = vec![
        Entry::new('y', write, |viewer| match viewer.app.forms.take() {
            Some(offer) => begin(&mut viewer.app, offer, Replace::No),
            None => vec![],
        }),
        Entry::new('f', format, |viewer| choose(&mut viewer.app, formats)),
        Entry::new('w', scope, |viewer| choose(&mut viewer.app, parts)),
        Entry::new('r', secrets, |viewer| {
            change(&mut viewer.app, |offer| offer.is_raw = !offer.is_raw)
        }),
        Entry::new('n', "another file name", |viewer| {
            let file = |offer: &Offer| -> Box<dyn Overlay> {
                Box::new(Prompt::new(Purpose::ExportFile, &offer.file()))
            };
            choose(&mut viewer.app, file)
        }),
    ];
    Menu {
        text: vec![text],
        about: Some(Slot::Export),
        ..Menu::new(format!("export {}", escape(&offer.id)), entries)
    }
}

/// Shows the form, and something to be chosen on top of it.
fn choose(app: &mut App, on_top: fn(&Offer) -> Box<dyn Overlay>) -> Effects {
    change(app, |_| ());
    let on_top = app.forms.get().map(on_top);
    app.overlays.extend(on_top);
    vec![]
}

/// The formats, with the cursor on the one that is chosen.
fn formats(offer: &Offer) -> Box<dyn Overlay> {
    let entries = FORMATS.map(|format| {
        let (letter, name, _) = names(format);
        let label = format!("{name:<10} {}", about(format));
        Entry::new(letter, label, move |viewer| {
            change(&mut viewer.app, |offer| offer.format = format)
        })
    });
    let at = FORMATS.iter().position(|format| *format == offer.format);
    Box::new(Menu {
        at: at.unwrap_or(0),
        ..Menu::new("choose", entries.into())
    })
}

/// The parts of the recording, with the cursor on the one that is chosen.
fn parts(offer: &Offer) -> Box<dyn Overlay> {
    let scopes = offer.scopes();
    let at = scopes
        .iter()
        .position(|(_, scope, _)| *scope == offer.scope);
    let entries = scopes.into_iter().map(|(letter, scope, label)| {
        Entry::new(letter, label, move |viewer| {
            change(&mut viewer.app, |offer| offer.scope = scope)
        })
    });
    Box::new(Menu {
        at: at.unwrap_or(0),
        ..Menu::new("choose", entries.collect())
    })
}

/// The file gets another name; an empty one proposes one.
pub fn named(app: &mut App, name: &str) -> Effects {
    let name = name.trim();
    let name = (!name.is_empty()).then(|| name.to_owned());
    change(app, |offer| offer.file = name)
}

fn begin(app: &mut App, offer: Box<Offer>, may: Replace) -> Effects {
    if running::is_busy(app, Slot::Export) {
        return vec![];
    }
    let work = move |place: &Place<'_>| write(offer, may, place);
    running::start(app, Slot::Export, "reading the recording", work)
}

/// Writes the file; it appears when it is whole.
fn write(offer: Box<Offer>, may: Replace, place: &Place<'_>) -> Result<Answer, String> {
    let recording = place.open(&Which::File(offer.path.clone()))?;
    let said = |error: ReadError| sentence(&error);
    let is_live = Reel::read(&offer.path).standing == Standing::Live;
    let selection = selection(&recording, &offer, is_live).map_err(said)?;
    if selection.is_empty() {
        return Err("nothing on record fits, so nothing was written".to_owned());
    }
    let policy = (!offer.is_raw).then(|| place.means.policy.clone());
    let summary = recording.summary().map_err(said)?;
    let order = outgoing::Order {
        format: offer.format,
        bodies: Bodies::Without,
        selection: &selection,
        now: is_live.then(|| Moment(wall_clock_ns().saturating_sub(summary.wall_ns))),
        policy: policy.transpose()?,
    };
    let target = PathBuf::from(offer.file());
    let target = std::path::absolute(&target).unwrap_or(target);
    let mut tell = progress(place, summary.frames);
    match outgoing::save(&recording, &order, &target, may, &mut tell) {
        Ok(saved) => Ok(Answer::new(move |viewer| {
            done(&mut viewer.app, &saved, &offer.file(), is_live)
        })),
        Err(ExportError::Whole(WholeError::IsThere(_))) => Ok(Answer::new(|viewer| {
            viewer.app.running.remove(&Slot::Export);
            viewer.app.push(is_there(offer));
            vec![]
        })),
        Err(error) => unwritten(&error),
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

fn unwritten(error: &ExportError) -> Result<Answer, String> {
    match error {
        ExportError::Stopped(_) => Ok(Answer::new(|viewer| {
            let app = &mut viewer.app;
            app.running.remove(&Slot::Export);
            let text = "stopped: nothing was written";
            app.notices.success(text, app.now);
            vec![]
        })),
        error => Err(escape(&sentence(error)).into_owned()),
    }
}

fn done(app: &mut App, saved: &Saved, file: &str, is_live: bool) -> Effects {
    app.running.remove(&Slot::Export);
    let mut text = saved.text.clone();
    if is_live {
        text.push_str("; it is still recorded: what comes from now on is not in it");
    }
    // In full for whoever looks at the messages: the screen may be narrow.
    app.notices.success(text, app.now);
    let places = places(saved.report.as_ref());
    let short = format!("{} in {}, {places}", size(saved.bytes), escape(file));
    app.notices.success(short, app.now);
    vec![]
}

/// In how many places a file was redacted.
fn places(report: Option<&Report>) -> String {
    let Some(report) = report else {
        return "not redacted".to_owned();
    };
    let mut text = format!("redacted in {}", plural(report.hits(), "place"));
    if !report.left.is_empty() {
        let frames = plural(report.left.len() as u64, "frame");
        text = format!("{text}, {frames} left out");
    }
    text
}

/// A file of that name is there already. The cursor is on the answer that does no harm.
fn is_there(offer: Box<Offer>) -> Menu {
    let title = format!("{} is there already: replace it?", escape(&offer.file()));
    let entries = vec![
        Entry::nothing('n', "no, leave it as it is"),
        Entry::new('y', "yes, replace it", |viewer| {
            begin(&mut viewer.app, offer, Replace::Yes)
        }),
    ];
    Menu::new(title, entries)
}

/// The part that is written.
fn selection(recording: &Recording, offer: &Offer, is_live: bool) -> Result<Selection, ReadError> {
    let all = Selection::between(None, None);
    let (text, question) = match (offer.scope, &offer.filter, offer.exchange) {
        (Scope::Filter, Some((text, question)), _) => (text.as_str(), question.clone()),
        (Scope::Marked, ..) => {
            let query = Query::parse(MARKED).expect("it is a filter");
            let question = Question {
                query,
                ..Question::default()
            };
            (MARKED, question)
        }
        (Scope::Exchange, _, Some(request)) => {
            let (seq, _) = request;
            let mut selection = all.picked(&format!("seq:{}", seq.0));
            let found = recording.exchanges_of_frame(seq)?;
            for exchange in found.iter().filter(|one| one.request == request) {
                for seq in recording.frames_of_exchange(exchange.id)? {
                    selection.pick_frame(seq);
                }
            }
            return Ok(selection);
        }
        _ => return Ok(all),
    };
    let mut selection = all.picked(text);
    let context = select::context(&recording.summary()?, is_live.then(wall_clock_ns));
    outgoing::pick_rows(recording, &question, context, &mut selection)?;
    Ok(selection)
}

/// Has the exchange that is selected told in Markdown, for the clipboard.
pub fn report(app: &mut App, session: &Session, name: PathBuf) -> Effects {
    let Some(request) = exchange(session) else {
        return vec![];
    };
    if running::is_busy(app, Slot::Export) {
        return vec![];
    }
    let path = session.path.clone();
    let work = move |place: &Place<'_>| {
        let recording = place.open(&Which::File(path))?;
        let policy = place.means.policy.clone()?;
        let text = match in_markdown(&recording, request, &policy, place) {
            Ok(text) => text,
            Err(error) => return unwritten(&error),
        };
        let text = text.ok_or("the message is too long to be looked through for secrets")?;
        Ok(Answer::new(|viewer: &mut Viewer| {
            viewer.app.running.remove(&Slot::Export);
            super::copy::report(&mut viewer.app, text, name)
        }))
    };
    running::start(app, Slot::Export, "reading the recording", work)
}

/// The redacted report of the exchange with this request; none if it is not in the redacted
/// recording.
fn in_markdown(
    recording: &Recording,
    request: (Seq, u32),
    policy: &Arc<Policy>,
    place: &Place<'_>,
) -> Result<Option<String>, ExportError> {
    let mut tell = progress(place, recording.summary()?.frames);
    let mut redacting = outgoing::learn(recording, policy, &mut tell)?;
    let all = Selection::default();
    let (redacted, _) = redacted::recording(&mut redacting, &all, &mut tell)?;
    // Frames keep their numbers where others are redacted; exchanges may not.
    let found = redacted.exchanges_of_frame(request.0)?;
    let exchange = found.iter().find(|one| one.request == request);
    let text = exchange.map(|one| markdown::exchange(&redacted, one.id));
    Ok(text.transpose()?.flatten())
}
