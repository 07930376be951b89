//! The time cursor, the pause, and the state panel: what was true at a moment, in place of the
//! detail.
//!
//! ```text
//!  ┌ state at #1187  12:04.318 ───────────────────────────────┐
//!  │ phase     ready                                          │
//!  │ version   asked 2025-11-25, agreed 2025-06-18            │
//!  │ server    weather-server 1.4                             │
//!  │   can     tools, used · logging · ⚠ prompts: not declared│
//!  │ client    claude-code 2.1                                │
//!  │   can     sampling, used · roots                         │
//!  │ tools     14, listed at #1181, changed since (#1185)     │
//!  │             search_docs, get_weather, …                  │
//!  │ open      2 calls                                        │
//!  │             #1187 → tools/call search_docs   842 ms      │
//!  │ log level debug, since #12                               │
//!  └──────────────────────────────────────────────────────────┘
//! ```

use super::text::Line as Pieces;
use crate::action::Action;
use crate::app::{App, Focus, Playback, Session, StatePane};
use crate::effect::Effects;
use crate::layout;
use crate::panels::footer::Chip;
use crate::theme::{Glyph, Look, Role};
use crate::widget::cursor::moved;
use crate::widget::{frame, spans};
use crate::worker::job::{Job, Progress, Slot, Source, Step};
use mcpreel_share::phrases;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::state::{Declared, Listed, State};
use mcpreel_wire::mcp::lists::LISTS;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{self, escape, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use std::fmt::Write as _;

/// How often the state of a live recording is asked for again, nanoseconds.
const AGAIN_NS: u64 = 1_000_000_000;

/// Columns of the words on the left.
const WORD: usize = 10;

/// Names, open calls and subscriptions that are listed; of more their number is told.
const LISTED: usize = 20;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    match action {
        Action::TimeCursor => Some(switch(app, session)),
        Action::StepForward => Some(step(app, session, true)),
        Action::StepBack => Some(step(app, session, false)),
        Action::Pause => Some(pause(app, session)),
        Action::StatePane => Some(pane(app, session)),
        Action::Close if session.playback.pane.is_some() => Some(pane(app, session)),
        Action::Close if session.playback.is_on() && session.focus == Focus::Main => {
            Some(switch(app, session))
        }
        action => scroll(app, session, action),
    }
}

/// While the state has the keys, motions scroll it.
fn scroll(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let (lines, shown) = extent(app, session)?;
    if session.focus != Focus::Detail {
        return None;
    }
    let pane = session.playback.pane.as_mut()?;
    let tops = lines.saturating_sub(shown) + 1;
    // A wider screen may have left it below what is the last one now.
    pane.top = moved(action, pane.top.min(tops - 1), tops, shown)?;
    Some(vec![])
}

/// Time cursor on at the selected row, or off.
fn switch(app: &mut App, session: &mut Session) -> Effects {
    if session.playback.cursor.is_some() {
        return put(app, session, None);
    }
    let selected = super::selection::place(session);
    match (selected, last(session)) {
        // Events before the first frame stand at no frame.
        (Some(key), Some(_)) => put(app, session, Some(key.seq.max(Seq(1)))),
        (None, Some(last)) => put(app, session, Some(last)),
        (_, None) => {
            let text = "nothing is on record yet that the time cursor could stand on";
            app.notices.error(text, app.now);
            vec![]
        }
    }
}

fn last(session: &Session) -> Option<Seq> {
    let frames = session.vitals.as_deref()?.summary.frames;
    (frames > 0).then_some(Seq(frames))
}

/// Puts the time cursor on a frame, or takes it away: the list ends there.
fn put(app: &mut App, session: &mut Session, cursor: Option<Seq>) -> Effects {
    if session.playback.cursor == cursor {
        return vec![];
    }
    let selected = super::selection::place(session);
    session.playback.cursor = cursor;
    session.playback.t = None;
    session.list.until = session.playback.until();
    let mut effects = Effects::new();
    match (cursor, selected) {
        (Some(_), _) => session.list.follow(),
        (None, Some(key)) => effects = super::selection::go_to(app, session, key),
        (None, None) => {}
    }
    effects.extend(ask(app, session));
    effects
}

/// Asks for the time of the cursor, and for the state where it is shown.
fn ask(app: &mut App, session: &mut Session) -> Effects {
    let now = app.now.ui_ns;
    let Some(at) = session.until().or(last(session)) else {
        return vec![];
    };
    let pane = session.playback.pane.as_mut();
    let state = pane.is_some();
    if let Some(pane) = pane {
        pane.asked = Some(at);
        pane.asked_ns = now;
    }
    vec![app.questions.ask(Slot::State, Looking { at, state }, found)]
}

/// Reads when a frame was complete, and the state after it where that is wanted.
struct Looking {
    at: Seq,
    state: bool,
}

impl Job for Looking {
    type Found = (Seq, Option<Moment>, Option<Box<State>>);

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        let at = self.at;
        let t = source.recording.head(at)?.map(|head| head.t_last);
        let state = if self.state {
            Some(Box::new(source.recording.state_at(at)?))
        } else {
            None
        };
        Ok((Progress::Done, Some((at, t, state))))
    }
}

fn found(
    _: &mut App,
    session: &mut Session,
    (at, t, state): (Seq, Option<Moment>, Option<Box<State>>),
) -> Effects {
    let playback = &mut session.playback;
    if playback.cursor == Some(at) {
        playback.t = t;
    }
    if let (Some(pane), Some(state)) = (&mut playback.pane, state) {
        pane.state = Some((at, state));
    }
    vec![]
}

/// A frame later or earlier; with a filter the next row that it shows.
fn step(app: &mut App, session: &mut Session, forward: bool) -> Effects {
    let (Some(at), Some(last)) = (session.playback.cursor, last(session)) else {
        return switch(app, session);
    };
    let to = match (super::selection::query(session).expr.is_some(), forward) {
        (true, forward) => session.list.index.beside(at, forward),
        (false, true) => Some(Seq(at.0 + 1)).filter(|to| *to <= last),
        (false, false) => Some(Seq(at.0.saturating_sub(1))).filter(|to| to.0 > 0),
    };
    if to.is_some() {
        return put(app, session, to);
    }
    let text = if forward {
        "that is the last one"
    } else {
        "that is the first one"
    };
    app.notices.success(text, app.now);
    vec![]
}

/// Freezes the list, or lets it go on.
fn pause(app: &mut App, session: &mut Session) -> Effects {
    session.playback.paused = match session.playback.paused {
        Some(_) => None,
        None => last(session),
    };
    session.list.until = session.playback.until();
    if session.playback.cursor.is_none() && session.playback.pane.is_some() {
        return ask(app, session);
    }
    vec![]
}

/// Shows the state in place of the detail, or the detail again.
fn pane(app: &mut App, session: &mut Session) -> Effects {
    let size = app.size;
    let alone = !layout::shows_both(size, session);
    if session.playback.pane.take().is_some() {
        if alone {
            session.focus = Focus::Main;
        }
        return vec![];
    }
    session.playback.pane = Some(StatePane::default());
    if alone {
        session.focus = Focus::Detail;
    }
    ask(app, session)
}

/// Time has passed: the state of a live recording is asked for again.
pub fn tick(app: &mut App, session: &mut Session) -> Effects {
    let now = app.now.ui_ns;
    let live = session.is_live() && session.until().is_none();
    let vitals = session.vitals.as_deref();
    let frames = vitals.map(|vitals| vitals.summary.frames);
    let pane = session.playback.pane.as_ref();
    let is_old = pane.is_some_and(|pane| match pane.asked {
        None => frames.is_some_and(|frames| frames > 0),
        Some(seq) => live && Some(seq.0) != frames && now.saturating_sub(pane.asked_ns) > AGAIN_NS,
    });
    if is_old { ask(app, session) } else { vec![] }
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let Some(pane) = &session.playback.pane else {
        return;
    };
    let title = match (&pane.state, session.until()) {
        (Some((seq, _)), Some(_)) => format!("state at #{}", seq.0),
        (Some((seq, _)), None) => format!("state now, at #{}", seq.0),
        (None, _) => format!("state{}", look.glyph(Glyph::Ellipsis)),
    };
    let focus = session.focus == Focus::Detail;
    let (columns, shown) = room(area);
    let lines = of(app, session, columns);
    let top = pane.top.min(lines.len().saturating_sub(shown));
    let below = lines.len().saturating_sub(top + shown);
    let foot = match below {
        0 => "S closes".to_owned(),
        below => format!(
            "{} {} S closes",
            text::plural(below as u64, "more line"),
            look.glyph(Glyph::More)
        ),
    };
    let inner = frame::draw(look, &title, &foot, focus, area, frame);
    for (line, row) in lines.into_iter().skip(top).zip(inner.rows()) {
        frame.render_widget(spans::line(spans::cut(line, columns), *look), row);
    }
}

/// Columns and rows within the frame.
fn room(area: Rect) -> (usize, usize) {
    let inner = |side: u16| usize::from(side.saturating_sub(2));
    (inner(area.width), inner(area.height))
}

/// The lines of the state, for so many columns; none until it has come.
fn of(app: &App, session: &Session, columns: usize) -> Vec<Pieces> {
    let pane = session.playback.pane.as_ref();
    let Some((_, state)) = pane.and_then(|pane| pane.state.as_ref()) else {
        return Vec::new();
    };
    let t = match session.playback.t {
        Some(t) if session.playback.is_on() => t,
        _ => session.now(app.now),
    };
    lines(&app.settings.look, state, t, columns)
}

/// How many lines the state has, and how many of them are on the screen at once; none where it is
/// not shown.
fn extent(app: &App, session: &Session) -> Option<(usize, usize)> {
    session.playback.pane.as_ref()?;
    let (columns, page) = room(layout::session(app, session).detail);
    Some((of(app, session, columns).len(), page))
}

/// The modes of playback as chips.
pub fn chips(look: &Look, session: &Session) -> Vec<Chip> {
    let mut chips = Vec::new();
    let playback = &session.playback;
    if let Some(seq) = playback.cursor {
        chips.push(Chip {
            role: Role::ChipWarn,
            text: cursor(look, playback, seq),
            action: Some(Action::TimeCursor),
        });
    }
    if let Some(paused) = playback.paused {
        let new = last(session).map_or(0, |last| last.0.saturating_sub(paused.0));
        let text = match new {
            0 => "PAUSED".to_owned(),
            new => format!("PAUSED, {} new frames", text::count(new)),
        };
        chips.push(Chip {
            role: Role::ChipWarn,
            text,
            action: Some(Action::Pause),
        });
    }
    chips
}

/// `⏪ AT #1187 12:04.318`
fn cursor(look: &Look, playback: &Playback, seq: Seq) -> String {
    let mut text = format!("{} AT #{}", look.glyph(Glyph::Back), seq.0);
    if let Some(t) = playback.t {
        text.push(' ');
        text.push_str(&text::since(t.0));
    }
    text
}

/// The lines for a pane of so many columns, at the moment `t`.
fn lines(look: &Look, state: &State, t: Moment, columns: usize) -> Vec<Pieces> {
    let mut lines = Lines {
        look,
        columns,
        done: Vec::new(),
    };
    lines.session(state);
    for by in [Declared::ByServer, Declared::ByClient] {
        lines.side(state, by);
    }
    for list in &LISTS {
        if let Some(listed) = state.lists.get(list.member) {
            lines.list(list.member, listed);
        }
    }
    lines.open(state, t);
    lines.subscriptions(state);
    if let Some((level, since)) = &state.log_level {
        let level = format!("{}, since #{}", escape(level), since.0);
        lines.named("log level", Role::Text, level);
    }
    if !state.unread.is_empty() {
        let seqs: Vec<_> = state
            .unread
            .iter()
            .map(|seq| format!("#{}", seq.0))
            .collect();
        let text = format!("too long to be read for this: {}", seqs.join(", "));
        lines.named(look.glyph(Glyph::Warning), Role::Warn, text);
    }
    lines.done
}

/// Lines that are being put together.
struct Lines<'a> {
    look: &'a Look,
    columns: usize,
    done: Vec<Pieces>,
}

impl Lines<'_> {
    fn named(&mut self, word: &str, role: Role, text: String) {
        let word = format!(" {}", text::pad_end(word, WORD));
        self.done.push(vec![(Role::Faint, word), (role, text)]);
    }

    /// Words one after the other, in as many lines as they need.
    fn words(&mut self, first: &str, words: Vec<(Role, String)>) {
        let start = |word: &str| vec![(Role::Faint, format!(" {}", text::pad_end(word, WORD)))];
        let dot = format!(" {} ", self.look.glyph(Glyph::Dot));
        let mut line = start(first);
        for (role, word) in words {
            let is_first = line.len() == 1;
            if !is_first && spans::width(&line) + width(&dot) + width(&word) > self.columns {
                self.done.push(std::mem::replace(&mut line, start("")));
            } else if !is_first {
                line.push((Role::Faint, dot.clone()));
            }
            line.push((role, word));
        }
        self.done.push(line);
    }

    fn session(&mut self, state: &State) {
        let session = &state.session;
        let phase = match session.phase.end() {
            Some(end) => phrases::end(end),
            None => session.phase.as_str().to_owned(),
        };
        self.named("phase", Role::Strong, phase);
        let eras: Vec<_> = session.eras.iter().map(|era| era.as_str()).collect();
        let asked = session.version_asked.as_deref();
        let agreed = session.version_agreed.as_deref();
        let mut versions: Vec<_> = asked
            .map(|one| format!("asked {}", escape(one)))
            .into_iter()
            .collect();
        versions.extend(agreed.map(|one| format!("agreed {}", escape(one))));
        if versions.is_empty() {
            versions.push("none was asked for".to_owned());
        }
        let differ = agreed.is_some() && asked != agreed;
        let role = if differ { Role::Warn } else { Role::Text };
        let text = format!("{} {}", versions.join(", "), eras.join("+"));
        self.named("version", role, text.trim_end().to_owned());
        if let Some(offered) = phrases::versions_offered(session) {
            self.named("offered", Role::Text, offered);
        }
    }

    fn side(&mut self, state: &State, by: Declared) {
        let (word, peer) = match by {
            Declared::ByServer => ("server", &state.session.server),
            Declared::ByClient => ("client", &state.session.client),
        };
        let name = phrases::peer(peer).unwrap_or_else(|| "has not said who it is".to_owned());
        self.named(word, Role::Strong, name);
        let capabilities = state.capabilities(by);
        let mut shown: Vec<_> = capabilities
            .iter()
            .map(|one| {
                let path = escape(&one.path);
                match (one.declared, one.used) {
                    (true, true) => (Role::Good, format!("{path} used")),
                    (true, false) => (Role::Text, path.into_owned()),
                    (false, _) => {
                        let glyph = self.look.glyph(Glyph::Warning);
                        (Role::Warn, format!("{glyph} {path} used, not declared"))
                    }
                }
            })
            .collect();
        if shown.is_empty() {
            shown.push((Role::Faint, "nothing was declared".to_owned()));
        }
        self.words("  can", shown);
    }

    fn list(&mut self, member: &str, listed: &Listed) {
        let mut text = text::count(listed.count as u64);
        if listed.more {
            text.push_str(" and more, not asked for");
        }
        if let Some(seq) = listed.answered {
            let _ = write!(text, ", listed at #{}", seq.0);
        }
        let mut role = Role::Text;
        if let Some(seq) = listed.stale_since {
            role = Role::Warn;
            let glyph = self.look.glyph(Glyph::Warning);
            let _ = write!(text, ", {glyph} stale: changed at #{}", seq.0);
        }
        let word = match member {
            "resourceTemplates" => "templates",
            member => member,
        };
        self.named(word, role, text);
        let names = listed.names.iter().take(LISTED);
        let mut names: Vec<_> = names
            .map(|name| (Role::Faint, escape(name).into_owned()))
            .collect();
        if listed.names.len() > LISTED {
            names.push((Role::Faint, self.more(listed.names.len())));
        }
        if !names.is_empty() {
            self.words("", names);
        }
    }

    fn open(&mut self, state: &State, t: Moment) {
        if state.open.is_empty() {
            return self.named("open", Role::Text, "no call".to_owned());
        }
        let calls = text::plural(state.open.len() as u64, "call");
        self.named("open", Role::Open, calls);
        for call in state.open.iter().take(LISTED) {
            let arrow = self
                .look
                .glyph(if call.direction == Direction::ServerToClient {
                    Glyph::ToClient
                } else {
                    Glyph::ToServer
                });
            let name = call.name.as_deref().unwrap_or_default();
            let what = format!("{} {name}", call.method);
            let since = text::duration(t.0.saturating_sub(call.t_request.0));
            let waits = if call.direction == Direction::ServerToClient {
                ", waits for the client"
            } else {
                ""
            };
            let text = format!(
                "#{} {arrow} {}  {since}{waits}",
                call.request.0.0,
                escape(what.trim_end())
            );
            self.named("", Role::Open, text);
        }
        self.rest(state.open.len());
    }

    fn subscriptions(&mut self, state: &State) {
        if state.subscriptions.is_empty() {
            return;
        }
        let count = text::plural(state.subscriptions.len() as u64, "resource");
        self.named("subscribed", Role::Text, format!(" {count}"));
        for (uri, seq) in state.subscriptions.iter().take(LISTED) {
            let room = self.columns.saturating_sub(WORD + 10);
            let uri = text::cut_middle(&escape(uri), room);
            self.named("", Role::Text, format!("{uri}  #{}", seq.0));
        }
        self.rest(state.subscriptions.len());
    }

    fn more(&self, of: usize) -> String {
        format!("{} {} more", self.look.glyph(Glyph::Ellipsis), of - LISTED)
    }

    fn rest(&mut self, of: usize) {
        if of > LISTED {
            let text = self.more(of);
            self.named("", Role::Faint, text);
        }
    }
}
