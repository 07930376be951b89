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
use crate::action::Action;
use crate::app::{App, Overlay, Session, Viewer};
use crate::effect::Effects;
use crate::panels::menu::{Choice, Entry, Menu};
use crate::panels::replay::Running;
use crate::theme::{Glyph, Role};
use crate::worker::beside::{Which, open};
use crate::worker::{Answer as AnyAnswer, Ask as AskAny};
use mcpreel_redact::{Policy, Report};
use mcpreel_share::export::otlp::Bodies;
use mcpreel_share::export::{Selection, markdown};
use mcpreel_share::outgoing::file::{Replace, WholeError};
use mcpreel_share::outgoing::{self, Error, Format, MakeError, Stage, Stopped, Tell, redacted};
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::sanitised;
use mcpreel_store::library::{Entry as Reel, Library, Standing};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::{self, Question};
use mcpreel_trace::clock::{Clock, Moment, wall_clock_ns};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Item;
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{cut, escape, plural, size};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often an export tells how far it is, nanoseconds.
const EVERY_NS: u64 = 100_000_000;

/// Columns of the filter in the form.
const FILTER: usize = 60;

/// What of a recording is marked, as a filter.
const MARKED: &str = "is:marked";

/// What redaction cannot promise, in short.
const REDACTED: &str = "Redacted: what has the shape or the name of a secret is replaced, and so \
    is the same value elsewhere. A secret without either stays: look through the file before you \
    hand it on.";

const RAW: &str = "Not redacted: every secret that was said stands in the file.";

/// The formats: the letter that chooses each (one that moves no cursor), its name, the end of its
/// file name, what it is.
pub const FORMATS: [(char, Format, &str, &str, &str); 7] = [
    (
        'l',
        Format::Jsonl,
        "jsonl",
        "jsonl",
        "a line per frame or event; mcpreel reads it again",
    ),
    ('t', Format::Text, "text", "txt", "a transcript for reading"),
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

/// An export, from the question to its end.
#[derive(Debug, Default)]
pub struct Export {
    /// What could be exported, as long as the form is shown.
    offer: Option<Box<Offer>>,
    /// The export that runs; also a report that is made for the clipboard.
    pub running: Option<Running>,
    /// The export whose file is there already.
    again: Option<Box<Order>>,
    /// The report that was made last, where it is too long for a clipboard.
    pub report: Option<String>,
}

/// What could be exported, and what was chosen.
#[derive(Debug)]
struct Offer {
    generation: u64,
    path: PathBuf,
    id: String,
    format: Format,
    scope: Scope,
    /// The filter that is in force, as it was typed.
    filter: Option<(String, Question)>,
    /// The request of the exchange that is selected.
    exchange: Option<(Seq, u32)>,
    is_raw: bool,
    /// The file, where another name was chosen.
    file: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    Filter,
    Marked,
    Exchange,
}

/// A choice in the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    Write,
    /// The file is written in place of what is there.
    Replace,
    Formats,
    Format(Format),
    Scopes,
    Scope(Scope),
    Raw(bool),
    Name,
}

impl Offer {
    /// The name of the format, the end of its file name, and what it is.
    fn format(&self) -> (&'static str, &'static str, &'static str) {
        let mut formats = FORMATS.into_iter();
        let found = formats.find(|(_, format, ..)| *format == self.format);
        found.map_or(("", "", ""), |(_, _, name, ending, what)| {
            (name, ending, what)
        })
    }

    /// The file that is written, as it was typed or is proposed.
    fn file(&self) -> String {
        if let Some(file) = &self.file {
            return file.clone();
        }
        // A stranger may have put any id into the recording.
        let id = sanitised(&self.id);
        let (_, ending, _) = self.format();
        let part = match (self.scope, self.exchange) {
            (Scope::Exchange, Some((seq, _))) => format!("-{}", seq.0),
            (Scope::Filter, _) => "-filtered".to_owned(),
            (Scope::Marked, _) => "-marked".to_owned(),
            _ if self.format == Format::Recording => "-copy".to_owned(),
            _ => String::new(),
        };
        format!("{id}{part}.{ending}")
    }

    fn scope(&self, scope: Scope) -> String {
        match (scope, &self.filter, self.exchange) {
            (Scope::Filter, Some((text, _)), _) => {
                format!("what the filter shows: {}", cut(&escape(text), FILTER))
            }
            (Scope::Marked, ..) => "what is marked".to_owned(),
            (Scope::Exchange, _, Some((seq, _))) => format!("this exchange, #{}", seq.0),
            _ => "all of it".to_owned(),
        }
    }

    fn order(self) -> Order {
        let what = match (self.scope, &self.filter, self.exchange) {
            (Scope::Filter, Some((text, question)), _) => {
                What::Rows(text.clone(), question.clone())
            }
            (Scope::Marked, ..) => What::Marked,
            (Scope::Exchange, _, Some(request)) => What::Exchange(request),
            _ => What::All,
        };
        let goal = Goal::File(File {
            format: self.format,
            what,
            is_raw: self.is_raw,
            target: PathBuf::from(self.file()),
            may: Replace::No,
        });
        Order {
            generation: self.generation,
            path: self.path,
            goal,
        }
    }
}

/// Offers an export of the recording under the cursor.
pub fn perform_in_library(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Export {
        return None;
    }
    let entry = &app.library.current()?.entry;
    let (path, id) = (entry.path.clone(), entry.id.clone());
    Some(offer(app, None, path, id))
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
    Some(offer(app, Some(session), path, id))
}

/// Stops the export that runs.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    if !matches!(action, Action::Cancel | Action::StopExport) {
        return None;
    }
    let Some(running) = &mut app.export.running else {
        if action == Action::StopExport {
            app.notices.error("no export is running", app.now);
            return Some(vec![]);
        }
        return None;
    };
    // There is no harder way to stop it: a second Ctrl-C is about something else.
    if running.is_stopping && action == Action::Cancel {
        return None;
    }
    running.is_stopping = true;
    Some(vec![AskAny::Export(Ask::Stop).into()])
}

/// Shows the form. Nothing is written yet.
fn offer(app: &mut App, session: Option<&Session>, path: PathBuf, id: String) -> Effects {
    if is_busy(app) {
        return vec![];
    }
    let generation = app.next_generation();
    app.export.offer = Some(Box::new(Offer {
        generation,
        path,
        id,
        format: Format::Jsonl,
        scope: Scope::All,
        filter: session.and_then(filter),
        exchange: session.and_then(exchange),
        is_raw: false,
        file: None,
    }));
    show(app);
    vec![]
}

/// Says so if something is being written.
fn is_busy(app: &mut App) -> bool {
    let is_busy = app.export.running.is_some();
    if is_busy {
        let text = "something is being written; Ctrl-C stops it";
        app.notices.error(text, app.now);
    }
    is_busy
}

/// The rows that are shown, where those are not all.
fn filter(session: &Session) -> Option<(String, Question)> {
    let filter = &session.filter;
    let question = Question {
        lens: session.lens,
        query: filter.in_force().clone(),
        until: None,
    };
    // The text that was typed last may be no filter, and another one still in force.
    let text = question.query.to_string();
    filter.is_on().then_some((text, question))
}

/// The request of the exchange that is selected.
fn exchange(session: &Session) -> Option<(Seq, u32)> {
    let exchange = super::selection::item(session).and_then(Item::exchange);
    exchange.map(|exchange| exchange.request)
}

/// Shows the form in place of the one that is shown.
fn show(app: &mut App) {
    let Some(offer) = app.export.offer.as_deref() else {
        return;
    };
    let generation = Some(offer.generation);
    let menu = form(app, offer);
    if matches!(app.overlays.last(), Some(Overlay::Menu(menu)) if menu.generation == generation) {
        app.overlays.pop();
    }
    app.overlays.push(Overlay::Menu(menu));
}

fn form(app: &App, offer: &Offer) -> Menu {
    let warning = app.settings.look.glyph(Glyph::Warning);
    let (text, secrets) = if offer.is_raw {
        (
            (Role::Bad, format!("{warning} {RAW}")),
            "take the secrets out",
        )
    } else {
        ((Role::Faint, REDACTED.to_owned()), "leave the secrets in")
    };
    let (name, _, what) = offer.format();
    let entry = |letter, label: String, pick| Entry::new(letter, &label, Choice::Export(pick));
    let entries = vec![
        entry(
            'y',
            format!("write it to {}", escape(&offer.file())),
            Pick::Write,
        ),
        entry('f', format!("format: {name}, {what}"), Pick::Formats),
        entry(
            'w',
            format!("what: {}", offer.scope(offer.scope)),
            Pick::Scopes,
        ),
        entry('r', secrets.to_owned(), Pick::Raw(!offer.is_raw)),
        entry('n', "another file name".to_owned(), Pick::Name),
    ];
    Menu {
        text: vec![text],
        generation: Some(offer.generation),
        ..Menu::new(format!("export {}", escape(&offer.id)), entries)
    }
}

/// The formats, or the parts of the recording, with the cursor on the one that is chosen.
fn choices(offer: &Offer, pick: Pick) -> Menu {
    let picks: Vec<(char, String, Pick)> = if pick == Pick::Formats {
        let formats = FORMATS.into_iter();
        let entry = |(letter, format, name, _, what)| {
            (letter, format!("{name:<10} {what}"), Pick::Format(format))
        };
        formats.map(entry).collect()
    } else {
        let scopes = [
            ('a', true, Scope::All),
            ('f', offer.filter.is_some(), Scope::Filter),
            ('m', true, Scope::Marked),
            ('e', offer.exchange.is_some(), Scope::Exchange),
        ];
        let scopes = scopes.into_iter().filter(|(_, is_there, _)| *is_there);
        let entry = |(letter, _, scope)| (letter, offer.scope(scope), Pick::Scope(scope));
        scopes.map(entry).collect()
    };
    let chosen = [Pick::Format(offer.format), Pick::Scope(offer.scope)];
    let at = picks.iter().position(|(.., pick)| chosen.contains(pick));
    let entries = picks.into_iter();
    let entries =
        entries.map(|(letter, label, pick)| Entry::new(letter, &label, Choice::Export(pick)));
    Menu {
        at: at.unwrap_or(0),
        ..Menu::new("choose", entries.collect())
    }
}

/// Something was chosen in the form.
pub fn choose(app: &mut App, pick: Pick) -> Effects {
    match pick {
        Pick::Replace => return replace(app),
        Pick::Write => return start(app),
        _ => {}
    }
    let Some(offer) = app.export.offer.as_deref_mut() else {
        return vec![];
    };
    match pick {
        Pick::Format(format) => offer.format = format,
        Pick::Scope(scope) => offer.scope = scope,
        Pick::Raw(is_raw) => offer.is_raw = is_raw,
        _ => {}
    }
    let on_top = match pick {
        Pick::Formats | Pick::Scopes => Some(Overlay::Menu(choices(offer, pick))),
        Pick::Name => Some(Overlay::Prompt(Prompt::new(
            Purpose::ExportFile,
            &offer.file(),
        ))),
        _ => None,
    };
    show(app);
    app.overlays.extend(on_top);
    vec![]
}

/// The file gets another name; an empty one proposes one.
pub fn named(app: &mut App, name: &str) -> Effects {
    if let Some(offer) = app.export.offer.as_deref_mut() {
        let name = name.trim();
        offer.file = (!name.is_empty()).then(|| name.to_owned());
        show(app);
    }
    vec![]
}

fn start(app: &mut App) -> Effects {
    match app.export.offer.take() {
        Some(offer) => begin(app, offer.order()),
        None => vec![],
    }
}

fn replace(app: &mut App) -> Effects {
    let Some(mut order) = app.export.again.take() else {
        return vec![];
    };
    if let Goal::File(file) = &mut order.goal {
        file.may = Replace::Yes;
    }
    begin(app, *order)
}

/// Has the exchange that is selected told in Markdown, for the clipboard.
pub fn report(app: &mut App, session: &Session) -> Effects {
    let Some(request) = exchange(session) else {
        return vec![];
    };
    let path = session.path.clone();
    let goal = Goal::Report(request);
    let order = Order {
        generation: 0,
        path,
        goal,
    };
    begin(app, order)
}

fn begin(app: &mut App, mut order: Order) -> Effects {
    if is_busy(app) {
        return vec![];
    }
    order.generation = app.next_generation();
    app.export.running = Some(Running {
        generation: order.generation,
        told: "reading the recording".to_owned(),
        is_stopping: false,
    });
    vec![AskAny::Export(Ask::Start(Box::new(order))).into()]
}

pub fn answer(viewer: &mut Viewer, answer: Answer) -> Effects {
    let app = &mut viewer.app;
    let running = app.export.running.as_mut();
    let Some(running) = running.filter(|running| running.generation == answer.generation) else {
        return vec![];
    };
    if let Told::Progress(told) = answer.told {
        running.told = told;
        return vec![];
    }
    app.export.running = None;
    match answer.told {
        Told::Progress(_) => {}
        Told::Report(text) => return super::copy::report(app, viewer.session.as_deref(), text),
        Told::Done { told, short } => {
            // In full for whoever looks at the messages: the screen may be narrow.
            app.notices.success(told, app.now);
            app.notices.success(short, app.now);
        }
        Told::IsThere(order) => {
            if let Goal::File(file) = &order.goal {
                let menu = is_there(&escape(&file.target.to_string_lossy()));
                app.overlays.push(Overlay::Menu(menu));
            }
            app.export.again = Some(order);
        }
        Told::Stopped => app.notices.success("stopped: nothing was written", app.now),
        Told::Failed(why) => app.notices.error(why, app.now),
    }
    vec![]
}

/// A file of that name is there already. The cursor is on the answer that does no harm.
fn is_there(name: &str) -> Menu {
    let entries = vec![
        Entry::new('n', "no, leave it as it is", Choice::Nothing),
        Entry::new('y', "yes, replace it", Choice::Export(Pick::Replace)),
    ];
    Menu::new(format!("{name} is there already: replace it?"), entries)
}

#[derive(Debug)]
pub enum Ask {
    Start(Box<Order>),
    Stop,
}

#[derive(Clone, Debug)]
pub struct Order {
    pub generation: u64,
    pub path: PathBuf,
    pub goal: Goal,
}

#[derive(Clone, Debug)]
pub enum Goal {
    File(File),
    /// A redacted report of the exchange with this request.
    Report((Seq, u32)),
}

#[derive(Clone, Debug)]
pub struct File {
    pub format: Format,
    pub what: What,
    pub is_raw: bool,
    pub target: PathBuf,
    /// Whether it may take the place of another one.
    pub may: Replace,
}

/// The part of a recording that is written.
#[derive(Clone, Debug)]
pub enum What {
    All,
    /// The rows that fit a filter, and the filter as it was typed.
    Rows(String, Question),
    Marked,
    /// The exchange with this request.
    Exchange((Seq, u32)),
}

/// An answer about the export with this number.
#[derive(Debug)]
pub struct Answer {
    pub generation: u64,
    pub told: Told,
}

#[derive(Debug)]
pub enum Told {
    Progress(String),
    /// What was written, in full and in short.
    Done {
        told: String,
        short: String,
    },
    Report(String),
    /// A file of that name is there already: the same may be ordered again.
    IsThere(Box<Order>),
    /// Nothing was written.
    Stopped,
    /// Why it could not be done, one sentence, escaped.
    Failed(String),
}

/// What every export needs.
#[derive(Clone, Debug)]
pub struct Means {
    pub library: Library,
    /// What is secret; else why nobody knows, one sentence.
    pub policy: Result<Arc<Policy>, String>,
    pub clock: Clock,
}

enum End {
    IsThere,
    Stopped,
    Failed(String),
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopped(_) | Error::Make(MakeError::Stopped(_)) => Self::Stopped,
            Error::Whole(WholeError::IsThere(_)) => Self::IsThere,
            error => Self::Failed(escape(&sentence(&error)).into_owned()),
        }
    }
}

impl From<MakeError> for End {
    fn from(error: MakeError) -> Self {
        Error::from(error).into()
    }
}

impl From<ReadError> for End {
    fn from(error: ReadError) -> Self {
        Self::Failed(sentence(&error))
    }
}

/// Carries out the order, until it is done or `stop` is set.
pub fn run(order: Order, means: &Means, stop: &AtomicBool, tell: &mut dyn FnMut(AnyAnswer)) {
    let generation = order.generation;
    let mut tell = |told| tell(AnyAnswer::Export(Answer { generation, told }));
    let told = match carry_out(&order, means, stop, &mut tell) {
        Ok(told) => told,
        Err(End::IsThere) => Told::IsThere(Box::new(order)),
        Err(End::Stopped) => Told::Stopped,
        Err(End::Failed(why)) => Told::Failed(why),
    };
    tell(told);
}

fn carry_out(
    order: &Order,
    means: &Means,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Told),
) -> Result<Told, End> {
    let which = Which::File(order.path.clone());
    let recording = open(&which, &means.library, means.clock).map_err(End::Failed)?;
    let of = recording.summary()?.frames;
    let mut told = None::<Moment>;
    let mut progress = |stage: Stage| {
        if stop.load(Ordering::Relaxed) {
            return Err(Stopped);
        }
        let now = means.clock.now();
        if told.is_none_or(|told| now.0.saturating_sub(told.0) >= EVERY_NS) {
            told = Some(now);
            tell(Told::Progress(stage.in_words(of)));
        }
        Ok(())
    };
    match &order.goal {
        Goal::File(file) => write(&recording, file, &order.path, means, &mut progress),
        Goal::Report(request) => tell_in_markdown(&recording, *request, means, &mut progress),
    }
}

/// The report of the exchange with this request. Frames keep their numbers where others are
/// redacted; exchanges may not.
fn tell_in_markdown(
    recording: &Recording,
    request: (Seq, u32),
    means: &Means,
    tell: &mut Tell<'_>,
) -> Result<Told, End> {
    let policy = means.policy.clone().map_err(End::Failed)?;
    let mut redacting = outgoing::learn(recording, &policy, tell)?;
    let (redacted, _) = redacted::recording(&mut redacting, &Selection::default(), tell)?;
    let found = redacted.exchanges_of_frame(request.0)?;
    let exchange = found.iter().find(|one| one.request == request);
    let text = exchange.map(|one| markdown::exchange(&redacted, one.id));
    text.transpose()?
        .flatten()
        .map(Told::Report)
        .ok_or_else(|| {
            End::Failed("the message is too long to be looked through for secrets".to_owned())
        })
}

/// Writes the file; it appears when it is whole.
fn write(
    recording: &Recording,
    file: &File,
    reel: &Path,
    means: &Means,
    tell: &mut Tell<'_>,
) -> Result<Told, End> {
    let target = std::path::absolute(&file.target).unwrap_or_else(|_| file.target.clone());
    let is_live = Reel::read(reel).standing == Standing::Live;
    let selection = selection(recording, &file.what, is_live)?;
    let policy = if file.is_raw {
        None
    } else {
        Some(means.policy.clone().map_err(End::Failed)?)
    };
    let began = recording.summary()?.wall_ns;
    let order = outgoing::Order {
        format: file.format,
        bodies: Bodies::Without,
        selection: &selection,
        now: is_live.then(|| Moment(wall_clock_ns().saturating_sub(began))),
        policy,
    };
    let saved = outgoing::save(recording, &order, &target, file.may, tell)?;
    let mut told = saved.text;
    if is_live {
        told.push_str("; it is still recorded: what comes from now on is not in it");
    }
    let (bytes, name) = (size(saved.bytes), shown(&file.target));
    let short = format!("{bytes} in {name}, {}", places(saved.report.as_ref()));
    Ok(Told::Done { told, short })
}

fn shown(path: &Path) -> String {
    escape(&path.to_string_lossy()).into_owned()
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

/// The part that is written. An empty one is refused.
fn selection(recording: &Recording, what: &What, is_live: bool) -> Result<Selection, End> {
    let all = Selection::between(None, None);
    let rows = |text: &str, question: &Question| {
        let mut selection = all.clone().picked(text);
        let context = select::context(&recording.summary()?, is_live.then(wall_clock_ns));
        outgoing::pick_rows(recording, question, context, &mut selection)?;
        Ok::<_, End>(selection)
    };
    let selection = match what {
        What::All => return Ok(all),
        What::Rows(text, question) => rows(text, question)?,
        What::Marked => {
            let query = Query::parse(MARKED).map_err(|error| End::Failed(error.message))?;
            let question = Question {
                query,
                ..Question::default()
            };
            rows(MARKED, &question)?
        }
        What::Exchange(request) => {
            let (seq, _) = request;
            let mut selection = all.picked(&format!("seq:{}", seq.0));
            let found = recording.exchanges_of_frame(*seq)?;
            for exchange in found.iter().filter(|one| one.request == *request) {
                for seq in recording.frames_of_exchange(exchange.id)? {
                    selection.pick_frame(seq);
                }
            }
            selection
        }
    };
    if selection.is_empty() {
        let why = "nothing on record fits, so nothing was written";
        return Err(End::Failed(why.to_owned()));
    }
    Ok(selection)
}
