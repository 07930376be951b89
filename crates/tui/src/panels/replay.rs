//! A replay: the form that asks, the arguments that are edited first, and the result beside the
//! recording.
//!
//! ```text
//!  ┌ replay 7f3a? ──────────────────────────────────────────────────────┐
//!  │ starts  npx -y weather-server --units metric                       │
//!  │ in      /home/ana/work                                             │
//!  │ makes   this call alone, after the handshake: 2 requests           │
//!  │ ⚠ 1 call of a tool that does not say that it only reads:           │
//!  │ #23 tools/call write_file {path:"a"}                               │
//!  │ also    initialize                                                 │
//!  │                                                                    │
//!  │ n  no, start nothing                                               │
//!  │ y  yes, make all of them, also those that may change something     │
//!  └──────────────────────────────────────────── Enter or Esc closes ───┘
//!  ┌ #23 tools/call search: params.arguments ───────────────────────────┐
//!  │ {                                                                  │
//!  │   "q": "rust async"▏                                               │
//!  │ }                                                                  │
//!  │ ✗ line 2, column 8: expected a value                               │
//!  └────────────────────────────── Ctrl-S takes it · Esc leaves it ─────┘
//! ```

use crate::action::Action;
use crate::app::{App, Overlay, Session};
use crate::effect::Effects;
use crate::keymap::Key;
use crate::panels::compare;
use crate::panels::menu::{Choice, Entry, Menu};
use crate::theme::{Glyph, Role};
use crate::view::screen;
use crate::widget::frame;
use crate::worker::Ask as AskAny;
use crate::worker::beside::{self, Which};
use crate::worker::replay::{Answer, Ask, Offer, Order, Requests, Scope, Survey};
use crossterm::event::KeyCode;
use mcpreel_replay::arguments::{Arguments, Mistake};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Item;
use mcpreel_wire::text::{count, cut, escape, plural, width};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Clear;
use ratatui_textarea::{CursorMove, Input, Key as Typed, TextArea, WrapMode};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Rows that the form takes besides the calls that it names.
const BESIDES: u16 = 16;

/// Calls that are named at least; the others are counted by their tools.
const LEAST: usize = 3;

/// Kinds of other requests, and tools of calls without a line of their own, that are named.
const KINDS: usize = 12;

/// Columns of what is started. A stranger may have put any command into the file.
const COMMAND: usize = 4000;

/// Columns of what is given in place of the recorded arguments.
const EDITED: usize = 200;

/// A replay, from the question to its end.
#[derive(Debug, Default)]
pub struct Replay {
    /// What could be replayed, as long as the form is shown.
    pub offer: Option<Box<Offer>>,
    /// Other arguments for the call, JSON on one line.
    pub edited: Option<Box<str>>,
    pub running: Option<Running>,
}

/// Work on a thread of its own: a replay or an export.
#[derive(Debug)]
pub struct Running {
    pub generation: u64,
    pub told: String,
    pub is_stopping: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    All,
    /// Only calls of tools that say that they only read.
    ReadOnly,
    /// The arguments are edited first.
    Edit,
    Scope(Scope),
}

/// Offers a replay of the recording under the cursor.
pub fn perform_in_library(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Replay {
        return None;
    }
    let path = app.library.current()?.entry.path.clone();
    app.replay.edited = None;
    Some(ask(app, path, None, Scope::Whole))
}

/// Offers a replay of the call under the cursor, or of the recording that is open.
pub fn perform_in_session(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    if action != Action::Replay {
        return None;
    }
    let exchange = super::selection::item(session).and_then(Item::exchange);
    let call = exchange.map(|exchange| exchange.request);
    let path = session.path.clone();
    app.replay.edited = None;
    Some(ask(app, path, call, Scope::Alone))
}

/// Stops the replay that runs.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    if !matches!(action, Action::Cancel | Action::StopReplay) {
        return None;
    }
    let Some(running) = &mut app.replay.running else {
        if action == Action::StopReplay {
            app.notices.error("no replay is running", app.now);
            return Some(vec![]);
        }
        return None;
    };
    let text = if running.is_stopping {
        "the server is killed"
    } else {
        "the replay stops: its server is told to end"
    };
    running.is_stopping = true;
    app.notices.success(text, app.now);
    Some(vec![AskAny::Replay(Ask::Stop).into()])
}

/// Asks what a replay would do. Nothing is started.
fn ask(app: &mut App, path: PathBuf, call: Option<(Seq, u32)>, scope: Scope) -> Effects {
    if app.replay.running.is_some() {
        let text = "a replay is running; Ctrl-C stops it";
        app.notices.error(text, app.now);
        return vec![];
    }
    let generation = app.next_generation();
    app.replay.offer = None;
    let reading = "reading what would be replayed".to_owned();
    app.overlays.push(Overlay::Menu(Menu {
        text: vec![(Role::Faint, reading)],
        generation: Some(generation),
        ..Menu::new("replay", Vec::new())
    }));
    let survey = Survey {
        generation,
        path,
        call,
        scope,
    };
    vec![AskAny::Beside(beside::Ask::Survey(survey)).into()]
}

/// What a replay would do is known: the form is filled, unless it was closed meanwhile.
pub fn surveyed(app: &mut App, generation: u64, offer: Box<Offer>) {
    let is_it = |overlay: &Overlay| matches!(overlay, Overlay::Menu(menu) if menu.generation == Some(generation));
    if let Some(at) = app.overlays.iter().position(is_it) {
        let menu = form(app, &offer);
        app.replay.offer = Some(offer);
        app.overlays[at] = Overlay::Menu(menu);
    }
}

/// Something was chosen in the form.
pub fn choose(app: &mut App, go: Go) -> Effects {
    match go {
        Go::All => return start(app, true),
        Go::ReadOnly => return start(app, false),
        Go::Edit => edit(app),
        Go::Scope(scope) => {
            if let Some(offer) = app.replay.offer.take() {
                return ask(app, offer.path, offer.place, scope);
            }
        }
    }
    vec![]
}

/// A person has confirmed it: `all`, also calls that may change something.
fn start(app: &mut App, all: bool) -> Effects {
    let generation = app.next_generation();
    let Some(offer) = app.replay.offer.take() else {
        return vec![];
    };
    let edited = app.replay.edited.take();
    let Some(order) = order(*offer, edited, generation, all) else {
        return vec![];
    };
    app.replay.running = Some(Running {
        generation,
        told: "starting the server".to_owned(),
        is_stopping: false,
    });
    vec![AskAny::Replay(Ask::Start(Box::new(order))).into()]
}

fn order(offer: Offer, edited: Option<Box<str>>, generation: u64, all: bool) -> Option<Order> {
    let call = offer.call.filter(|_| offer.scope != Scope::Whole);
    let edit = edited.and_then(|json| {
        let call = call.as_ref()?;
        let path = call.arguments.as_ref().ok()?.path.clone();
        Some((call.request.0, path, json))
    });
    let allowed = offer.requests.tools.into_keys().filter(|_| all);
    Some(Order {
        generation,
        path: offer.path,
        command: offer.command.ok()?,
        until: offer.until,
        shows: call.as_ref().map(|call| call.request.0),
        only: call
            .filter(|_| offer.scope == Scope::Alone)
            .map(|call| call.only),
        requests: offer.requests.count,
        allowed: allowed.collect::<BTreeSet<_>>(),
        edit,
    })
}

pub fn answer(app: &mut App, answer: Answer) -> Effects {
    let (Answer::Progress(generation, _)
    | Answer::Done(generation, _)
    | Answer::Failed(generation, _)) = &answer;
    let running = app.replay.running.as_mut();
    let Some(running) = running.filter(|running| running.generation == *generation) else {
        return vec![];
    };
    match answer {
        Answer::Progress(_, told) => running.told = told,
        Answer::Failed(_, why) => {
            app.replay.running = None;
            app.notices.error(why, app.now);
        }
        // What came of it is shown beside what was replayed.
        Answer::Done(_, done) => {
            app.replay.running = None;
            let text = format!("replayed: {}", done.told);
            app.notices.success(text, app.now);
            app.library.listed = None;
            let shows = done.replayed.shows;
            let replayed = Some(Box::new(done.replayed));
            return compare::begin(app, Which::File(done.original), done.path, replayed, shows);
        }
    }
    vec![]
}

/// The question. The cursor is on the answer that does no harm.
fn form(app: &App, offer: &Offer) -> Menu {
    let requests = &offer.requests;
    let warning = app.settings.look.glyph(Glyph::Warning);
    let mut text = started(offer, warning);
    let what = match (offer.scope, &offer.call) {
        (Scope::Alone, Some(call)) => {
            format!(
                "#{} {} alone, after the handshake",
                call.request.0.0, call.title
            )
        }
        (Scope::UpTo, Some(call)) => format!("all up to #{} {}", call.request.0.0, call.title),
        _ => "the whole session".to_owned(),
    };
    let much = plural(requests.count, "request");
    text.push((Role::Text, format!("makes   {what}: {much}")));
    let edited = app.replay.edited.as_deref();
    if let Some(json) = edited.filter(|_| offer.scope != Scope::Whole) {
        let json = cut(&escape(json), EDITED);
        text.push((Role::Strong, format!("with    {json}")));
    }
    if requests.changes > 0 {
        text.extend(changing(app, requests, warning));
    }
    if !requests.others.is_empty() {
        text.push((Role::Text, format!("also    {}", named(&requests.others))));
    }
    Menu {
        text,
        // It is read from its beginning, whatever there is room for.
        top: Some(0),
        ..Menu::new(
            format!("replay {}?", offer.short),
            entries(offer, edited.is_some()),
        )
    }
}

/// What is started and where, or why nothing can be; and who chose that.
fn started(offer: &Offer, warning: &str) -> Vec<(Role, String)> {
    let mut text = Vec::new();
    match offer.starts() {
        Ok(command) => {
            let here = "the folder where the viewer was started";
            let dir = offer.dir.as_deref().unwrap_or(here);
            text.push((Role::Strong, format!("starts  {}", cut(&command, COMMAND))));
            let hidden = width(&command).saturating_sub(COMMAND);
            if hidden > 0 {
                let hidden = plural(hidden as u64, "more character");
                let told = format!("{warning} and {hidden} that are not shown");
                text.push((Role::Bad, told));
            }
            text.push((Role::Text, format!("in      {dir}")));
        }
        Err(why) => text.push((Role::Bad, why.to_owned())),
    }
    if let Some(gone) = &offer.gone {
        let told = format!("{warning} the folder {gone}, where it was recorded, is not there");
        text.push((Role::Warn, told));
    }
    if offer.is_stranger {
        let told = format!(
            "{warning} this recording is not your own: whoever made it chose what is started, and \
             what it says of its tools does not count"
        );
        text.push((Role::Bad, told));
    }
    text
}

/// The calls that may change something, as many as there is room for; of the others how many
/// there are of each tool.
fn changing(app: &App, requests: &Requests, warning: &str) -> Vec<(Role, String)> {
    let head = match requests.changes {
        1 => "1 call of a tool that does not say that it only reads".to_owned(),
        many => format!(
            "{} calls of tools that do not say that they only read",
            count(many)
        ),
    };
    let mut text = vec![(Role::Warn, format!("{warning} {head}:"))];
    let room = usize::from(app.size.1.saturating_sub(BESIDES)).max(LEAST);
    let shown = requests.changing.iter().take(room);
    text.extend(shown.map(|(seq, asked)| (Role::Warn, format!("#{} {asked}", seq.0))));
    let shown = requests.changing.len().min(room) as u64;
    if requests.changes > shown {
        let more = count(requests.changes - shown);
        let told = format!("and {more} more; in all {}", named(&requests.tools));
        text.push((Role::Warn, told));
    }
    text
}

/// `tools/list (3 times), prompts/list`, the first ones.
fn named<K: AsRef<str>>(kinds: &std::collections::BTreeMap<K, u64>) -> String {
    let one = |(kind, times): (&K, &u64)| match times {
        1 => escape(kind.as_ref()).into_owned(),
        times => format!("{} ({} times)", escape(kind.as_ref()), count(*times)),
    };
    let mut names: Vec<_> = kinds.iter().take(KINDS).map(one).collect();
    let more: u64 = kinds.values().skip(KINDS).sum();
    if more > 0 {
        names.push(format!("{} more", count(more)));
    }
    names.join(", ")
}

fn entries(offer: &Offer, is_edited: bool) -> Vec<Entry> {
    let go = |letter, label, go| Entry::new(letter, label, Choice::Replay(go));
    let mut entries = vec![Entry::new('n', "no, start nothing", Choice::Nothing)];
    if offer.command.is_err() {
        return entries;
    }
    let requests = &offer.requests;
    if requests.changes == 0 {
        entries.push(go('y', "yes, replay it", Go::All));
    } else {
        // What does no harm comes first: a small screen shows it, and the other one on request.
        if requests.changes < requests.count {
            let some = "only the others: these are refused";
            entries.push(go('r', some, Go::ReadOnly));
        }
        let all = "yes, make all of them, also those that may change something";
        entries.push(go('y', all, Go::All));
    }
    let Some(call) = &offer.call else {
        return entries;
    };
    if offer.scope != Scope::Whole && call.arguments.is_ok() {
        let label = if is_edited {
            "edit the arguments again"
        } else {
            "edit the arguments first"
        };
        entries.push(go('e', label, Go::Edit));
    }
    let scopes = [
        ('c', "this call alone instead", Scope::Alone),
        ('u', "all up to this call instead", Scope::UpTo),
        ('w', "the whole session instead", Scope::Whole),
    ];
    let others = scopes
        .into_iter()
        .filter(|(.., scope)| *scope != offer.scope);
    entries.extend(others.map(|(letter, label, scope)| go(letter, label, Go::Scope(scope))));
    entries
}

/// The arguments of a call, while they are edited.
#[derive(Debug)]
pub struct Editor {
    title: String,
    arguments: Arguments,
    area: TextArea<'static>,
    /// Why the text was not taken the last time.
    mistake: Option<Mistake>,
}

/// Opens the arguments of the call, as they were edited before.
fn edit(app: &mut App) {
    let offer = app.replay.offer.as_deref();
    let Some(call) = offer.and_then(|offer| offer.call.as_ref()) else {
        return;
    };
    let Ok(arguments) = call.arguments.clone() else {
        return;
    };
    let edited = app.replay.edited.as_deref();
    let text = edited.and_then(|json| arguments.with_lines(json));
    let text = text.unwrap_or_else(|| arguments.text.clone());
    let title = format!("#{} {}: {}", call.request.0.0, call.title, arguments.path);
    let mut area = TextArea::new(text.lines().map(str::to_owned).collect());
    // Nothing is told by colour alone, and no colour is used where none is wanted.
    area.set_cursor_line_style(Style::default());
    area.set_selection_style(Style::default().add_modifier(Modifier::REVERSED));
    area.set_wrap_mode(WrapMode::Glyph);
    area.set_tab_length(2);
    app.overlays.push(Overlay::Edit(Box::new(Editor {
        title: escape(&title).into_owned(),
        arguments,
        area,
        mistake: None,
    })));
}

pub fn press(app: &mut App, key: Key) -> Effects {
    match (key.code, key.ctrl) {
        (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => back_to_form(app),
        (KeyCode::Char('s'), true) => take(app),
        _ => {
            if let Some(Overlay::Edit(editor)) = app.overlays.last_mut() {
                editor.area.input(input(key));
            }
        }
    }
    vec![]
}

/// Text that was pasted. What a terminal would obey becomes a blank.
pub fn paste(editor: &mut Editor, text: &str) {
    let visible = |letter: char| {
        let text = letter.to_string();
        *escape(&text) == *text
    };
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let letters = text.chars().map(|letter| match letter {
        '\n' => '\n',
        letter if visible(letter) => letter,
        _ => ' ',
    });
    editor.area.insert_str(letters.collect::<String>());
}

fn back_to_form(app: &mut App) {
    app.overlays.pop();
    if let Some(offer) = &app.replay.offer {
        let menu = form(app, offer);
        app.overlays.push(Overlay::Menu(menu));
    }
}

/// Back to the form with what is there now, if it is JSON; else to the place where it is not.
fn take(app: &mut App) {
    let Some(Overlay::Edit(editor)) = app.overlays.last_mut() else {
        return;
    };
    match editor.arguments.changed(&editor.area.lines().join("\n")) {
        Ok(changed) => {
            if changed.is_none() {
                app.notices.success("nothing was changed", app.now);
            }
            app.replay.edited = changed.map(Into::into);
            back_to_form(app);
        }
        Err(mistake) => {
            let place = |from_one: usize| u16::try_from(from_one.saturating_sub(1));
            let [line, column] =
                [mistake.line, mistake.column].map(|at| place(at).unwrap_or(u16::MAX));
            editor.area.move_cursor(CursorMove::Jump(line, column));
            editor.mistake = Some(mistake);
        }
    }
}

/// A key as the text area knows it.
fn input(key: Key) -> Input {
    let typed = match key.code {
        KeyCode::Char(letter) => Typed::Char(letter),
        KeyCode::Enter => Typed::Enter,
        KeyCode::Backspace => Typed::Backspace,
        KeyCode::Delete => Typed::Delete,
        KeyCode::Tab => Typed::Tab,
        KeyCode::Left => Typed::Left,
        KeyCode::Right => Typed::Right,
        KeyCode::Up => Typed::Up,
        KeyCode::Down => Typed::Down,
        KeyCode::Home => Typed::Home,
        KeyCode::End => Typed::End,
        KeyCode::PageUp => Typed::PageUp,
        KeyCode::PageDown => Typed::PageDown,
        _ => Typed::Null,
    };
    Input {
        key: typed,
        ctrl: key.ctrl,
        alt: key.alt,
        shift: false,
    }
}

/// Draws the editor, with a margin where there is room for one.
pub fn draw(app: &App, editor: &Editor, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let (columns, rows) = app.size;
    let margin = Margin::new(u16::from(columns >= 60) * 3, u16::from(rows >= 16));
    let area = screen(app).inner(margin);
    frame.render_widget(Clear, area);
    let dot = look.glyph(Glyph::Dot);
    let foot = if columns < 60 {
        format!("Ctrl-S takes {dot} Esc leaves")
    } else {
        format!("Ctrl-S takes it {dot} Ctrl-U undoes {dot} Esc leaves it as it was")
    };
    let mut inner = frame::draw(look, &editor.title, &foot, true, area, frame);
    if let Some(mistake) = editor.mistake.as_ref().filter(|_| inner.height > 1) {
        inner.height -= 1;
        let place = Rect {
            y: inner.bottom(),
            height: 1,
            ..inner
        };
        let text = format!("{} {mistake}", look.glyph(Glyph::Error));
        let text = cut(&text, usize::from(place.width));
        frame.render_widget(Line::styled(text, look.style(Role::Bad)), place);
    }
    frame.render_widget(&editor.area, inner);
}
