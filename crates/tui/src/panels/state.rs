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

use crate::action::Action;
use crate::app::{App, Focus, Playback, Session, StatePane};
use crate::effect::Effects;
use crate::layout;
use crate::theme::{Glyph, Look, Role};
use crate::widget::pager::Text;
use crate::widget::spans::Spans;
use crate::worker::job::{Slot, Source};
use mcpreel_share::phrases;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::state::{Declared, Listed, State};
use mcpreel_wire::mcp::methods::LISTS;
use mcpreel_wire::message::{Direction, Era};
use mcpreel_wire::text::{count, duration, escape, pad_end, plural, since};
use ratatui::Frame;
use ratatui::layout::Rect;
use std::fmt::Write as _;

/// How often the state of a live recording is asked for again, nanoseconds.
const AGAIN_NS: u64 = 1_000_000_000;

/// Columns of the words on the left.
const WORD: usize = 10;

/// Names, open calls and subscriptions that are listed; of more their number is told.
const LISTED: usize = 20;

impl Playback {
    /// `« AT #1187 12:04.318`, while the time cursor is on.
    pub fn told(&self, look: &Look) -> Option<String> {
        let t = self.t.map(|t| format!(" {}", since(t.0)));
        let (back, t) = (look.glyph(Glyph::Back), t.unwrap_or_default());
        self.cursor.map(|seq| format!("{back} AT #{}{t}", seq.0))
    }
}

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
        // While the state has the keys, motions scroll it.
        action if session.focus == Focus::Detail => {
            let area = layout::session(app, session).detail;
            let pane = session.playback.pane.as_mut()?;
            pane.text.scroll(action, area).map(|()| vec![])
        }
        _ => None,
    }
}

/// Time cursor on at the selected row, or off.
fn switch(app: &mut App, session: &mut Session) -> Effects {
    if session.playback.cursor.is_some() {
        return put(app, session, None);
    }
    let Some(last) = session.last() else {
        return app.refuse("there is no row yet for the time cursor");
    };
    // Events before the first frame stand at no frame.
    let selected = super::selection::place(session).map(|key| key.seq.max(Seq(1)));
    put(app, session, Some(selected.unwrap_or(last)))
}

/// Puts the time cursor on a frame, or takes it away: the list ends there.
fn put(app: &mut App, session: &mut Session, cursor: Option<Seq>) -> Effects {
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
    let Some(at) = session.playback.until().or(session.last()) else {
        return vec![];
    };
    let pane = session.playback.pane.as_mut();
    let state = pane.is_some();
    if let Some(pane) = pane {
        pane.asked_ns = app.now.ui_ns;
    }
    let look = move |source: &Source<'_>| {
        let head = source.recording.head(at)?;
        let state = state.then(|| source.recording.state_at(at)).transpose()?;
        Ok((at, head.map(|head| head.t_last), state))
    };
    vec![app.questions.ask(Slot::State, look, found)]
}

/// The frame, when it was complete, and the state after it.
type Then = (Seq, Option<Moment>, Option<State>);

fn found(app: &mut App, session: &mut Session, (at, t, state): Then) -> Effects {
    let now = session.now(app.now);
    let word = if session.playback.until().is_some() {
        "state at"
    } else {
        "state now, at"
    };
    let playback = &mut session.playback;
    if playback.cursor == Some(at) {
        playback.t = t;
    }
    if let (Some(pane), Some(state)) = (&mut playback.pane, state) {
        let then = playback.t.filter(|_| playback.cursor.is_some());
        pane.text.title = format!("{word} #{}", at.0);
        pane.text.lines = lines(&app.settings.look, &state, then.unwrap_or(now));
    }
    vec![]
}

/// A frame later or earlier; with a filter the next row that it shows.
fn step(app: &mut App, session: &mut Session, forward: bool) -> Effects {
    let (Some(at), Some(last)) = (session.playback.cursor, session.last()) else {
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
    let end = if forward { "last" } else { "first" };
    app.say(format!("that is the {end} one"))
}

/// Freezes the list, or lets it go on.
fn pause(app: &mut App, session: &mut Session) -> Effects {
    session.playback.paused = match session.playback.paused {
        Some(_) => None,
        None => session.last(),
    };
    session.list.until = session.playback.until();
    if session.playback.cursor.is_none() && session.playback.pane.is_some() {
        return ask(app, session);
    }
    vec![]
}

/// Shows the state in place of the detail, or the detail again.
fn pane(app: &mut App, session: &mut Session) -> Effects {
    let alone = !layout::shows_both(app.size, session);
    let is_open = session.playback.pane.take().is_none();
    if alone {
        session.focus = if is_open { Focus::Detail } else { Focus::Main };
    }
    if !is_open {
        return vec![];
    }
    let text = Text::new("state…", vec![]);
    session.playback.pane = Some(StatePane { text, asked_ns: 0 });
    ask(app, session)
}

/// Time has passed: the state of a live recording is asked for again.
pub fn tick(app: &mut App, session: &mut Session) -> Effects {
    let is_now = session.is_live() && session.playback.until().is_none();
    let pane = session.playback.pane.as_ref().filter(|_| is_now);
    let is_old = pane.is_some_and(|pane| app.now.ui_ns.saturating_sub(pane.asked_ns) > AGAIN_NS);
    if is_old { ask(app, session) } else { vec![] }
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    if let Some(pane) = &session.playback.pane {
        let has_keys = session.focus == Focus::Detail;
        let look = &app.settings.look;
        let keys = ["Tab, then j scrolls, S closes", "j scrolls, S closes"];
        let keys = keys[usize::from(has_keys)];
        pane.text.draw(look, keys, has_keys, area, frame);
    }
}

/// The lines of a state, at the moment `t`.
fn lines(look: &Look, state: &State, t: Moment) -> Vec<Spans> {
    let mut lines = session(state);
    for by in [Declared::ByServer, Declared::ByClient] {
        lines.extend(side(look, state, by));
    }
    for list in &LISTS {
        if let Some(one) = state.lists.get(list.member) {
            lines.extend(listed(look, list.member, one));
        }
    }
    let open = match state.open.len() as u64 {
        0 => line("open", Role::Text, "no call"),
        calls => line("open", Role::Open, plural(calls, "call")),
    };
    lines.push(open);
    let call = |call| line("", Role::Open, call_text(look, call, t));
    lines.extend(state.open.iter().take(LISTED).map(call));
    lines.extend(more(state.open.len()));
    if !state.subscriptions.is_empty() {
        let count = plural(state.subscriptions.len() as u64, "resource");
        lines.push(line("subscribed", Role::Text, format!(" {count}")));
        let uris = state.subscriptions.iter().take(LISTED);
        let uri = uris.map(|(uri, seq)| format!("{}  #{}", escape(uri), seq.0));
        lines.extend(uri.map(|uri| line("", Role::Text, uri)));
        lines.extend(more(state.subscriptions.len()));
    }
    if let Some((level, since)) = &state.log_level {
        let level = format!("{}, since #{}", escape(level), since.0);
        lines.push(line("log level", Role::Text, level));
    }
    if !state.unread.is_empty() {
        let seqs = state.unread.iter().map(|seq| format!("#{}", seq.0));
        let seqs = seqs.collect::<Vec<_>>().join(", ");
        let text = format!("too long to be read for this: {seqs}");
        lines.push(line(look.glyph(Glyph::Warning), Role::Warn, text));
    }
    lines
}

fn line(word: &str, role: Role, text: impl Into<String>) -> Spans {
    let word = (Role::Faint, format!(" {}", pad_end(word, WORD)));
    vec![word, (role, text.into())]
}

/// The line that says how many more there are than are listed.
fn more(of: usize) -> Option<Spans> {
    let left = of.checked_sub(LISTED).filter(|left| *left > 0)?;
    Some(line("", Role::Faint, format!("… {left} more")))
}

/// Phase and version.
fn session(state: &State) -> Vec<Spans> {
    let session = &state.session;
    let phase = session.phase.end().map(phrases::end);
    let phase = phase.unwrap_or_else(|| session.phase.as_str().to_owned());
    let (asked, agreed) = (&session.version_asked, &session.version_agreed);
    let told = [("asked", asked), ("agreed", agreed)].into_iter();
    let told =
        told.filter_map(|(word, version)| Some(format!("{word} {}", escape(version.as_deref()?))));
    let mut versions = told.collect::<Vec<_>>().join(", ");
    if versions.is_empty() {
        versions.push_str("none was asked for");
    }
    let begun = match session.eras[..] {
        [] => "",
        [Era::Legacy] => ", by initialize",
        [Era::Modern] => ", without a handshake",
        _ => ", by initialize and without",
    };
    let version = format!("{versions}{begun}");
    let differ = agreed.is_some() && asked != agreed;
    let role = if differ { Role::Warn } else { Role::Text };
    let mut lines = vec![
        line("phase", Role::Strong, phase),
        line("version", role, version),
    ];
    let offered = phrases::versions_offered(session);
    lines.extend(offered.map(|offered| line("offered", Role::Text, offered)));
    lines
}

/// A peer, and what it can do.
fn side(look: &Look, state: &State, by: Declared) -> [Spans; 2] {
    let (word, peer) = match by {
        Declared::ByServer => ("server", &state.session.server),
        Declared::ByClient => ("client", &state.session.client),
    };
    let name = phrases::peer(peer).unwrap_or_else(|| "has not said who it is".to_owned());
    let capabilities = state.capabilities(by);
    let warning = look.glyph(Glyph::Warning);
    let told = capabilities.iter().map(|one| {
        let path = escape(&one.path);
        match (one.declared, one.used) {
            (true, true) => format!("{path} used"),
            (true, false) => path.into_owned(),
            (false, _) => format!("{warning} {path} used, not declared"),
        }
    });
    let (role, told) = match told.collect::<Vec<_>>().join(" · ") {
        none if none.is_empty() => (Role::Faint, "nothing was declared".to_owned()),
        told if told.contains(warning) => (Role::Warn, told),
        told => (Role::Text, told),
    };
    [line(word, Role::Strong, name), line("  can", role, told)]
}

/// A list of the server or client: how many, when it was listed, and the first names.
fn listed(look: &Look, member: &str, listed: &Listed) -> Vec<Spans> {
    let mut text = count(listed.count as u64);
    if listed.more {
        text.push_str(" and more, not asked for");
    }
    if let Some(seq) = listed.answered {
        let _ = write!(text, ", listed at #{}", seq.0);
    }
    let mut role = Role::Text;
    if let Some(seq) = listed.stale_since {
        role = Role::Warn;
        let glyph = look.glyph(Glyph::Warning);
        let _ = write!(text, ", {glyph} stale: changed at #{}", seq.0);
    }
    let word = match member {
        "resourceTemplates" => "templates",
        member => member,
    };
    let names = listed.names.iter().take(LISTED).map(|name| escape(name));
    let names = names.collect::<Vec<_>>().join(" · ");
    let mut lines = vec![line(word, role, text)];
    if !names.is_empty() {
        lines.push(line("", Role::Faint, names));
    }
    lines.extend(more(listed.names.len()));
    lines
}

fn call_text(look: &Look, call: &Exchange, t: Moment) -> String {
    let waits = match call.direction {
        Direction::ServerToClient => ", waits for the client",
        Direction::ClientToServer => "",
    };
    let (arrow, what) = (look.glyph(call.direction.into()), phrases::call(call));
    let since = duration(t.0.saturating_sub(call.t_request.0));
    format!("#{} {arrow} {what}  {since}{waits}", call.request.0.0)
}
