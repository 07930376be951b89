//! Why the session went wrong: a line or two above the panes, and the whole account.
//!
//! ```text
//!  why  search_docs failed twice: quota exceeded (tool-error, #1187, #1201)
//!  ┌ why: certain, the recording shows it ────────────────────┐
//!  │  the server was ended by SIGSEGV in the middle of        │
//!  │  transfer (#12); stderr says: fatal: bad pointer         │
//!  │                                                          │
//!  │  It crashed in native code: look for a core dump, and …  │
//!  │                                                          │
//!  │ 1  #12  the client asked: tools/call transfer {to:"b"}   │
//!  │ 2  #14  stderr: fatal: bad pointer                       │
//!  │ 3  besides, likely: search_docs failed twice: …          │
//!  └──────────────────────── Enter goes to #12, Esc closes ───┘
//! ```
//!
//! In the line what hangs now comes first, then the causes of what went wrong, the best first: as many
//! as fit. Where nothing went wrong but a rule warns or worse, the line says so. In the account
//! evidence leads to its frame, another cause to its own account, the other side of a bridge to its recording.

use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::{Answer, Effects};
use crate::panels::menu::{Entry, Menu};
use crate::panels::{list, session};
use crate::theme::{Glyph, Role};
use crate::widget::spans::{self, Spans};
use crate::worker::job::Slot;
use crate::worker::{Ask, Vitals};
use mcpreel_lint::cause::{self, Cause, Certainty, Evidence, NOTHING_WRONG, Place};
use mcpreel_share::phrases::{self, recording};
use mcpreel_store::library::{Library, Standing};
use mcpreel_store::reader::Summary;
use mcpreel_trace::clock::{Moment, wall_clock_ns};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, duration, escape, pad_end, since, size, width, wrap};
use ratatui::Frame;
use ratatui::layout::Rect;
use std::path::Path;

/// Calls and lines that have waited for less are not told, nanoseconds.
const PATIENCE_NS: u64 = 1_000_000_000;

/// From so many rows on the screen has room for a second line.
const HIGH: u16 = 24;

/// Columns before the words.
const WORD: &str = " why  ";

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    spans::draw_lines(&app.settings.look, lines(app, session), area, frame);
}

/// The line; two where there is room and one is too short.
pub fn lines(app: &App, session: &Session) -> Vec<Spans> {
    let Some(vitals) = session.vitals.as_deref().filter(|_| session.shows_why()) else {
        return vec![];
    };
    let (look, (columns, rows)) = (&app.settings.look, app.size);
    let mut said = Spans::new();
    if session.is_live() {
        said.extend(present(vitals, session.now(app.now)));
    }
    said.extend(past(vitals));
    let mut said = said.into_iter();
    let Some((role, first)) = said.next() else {
        return vec![];
    };
    let columns = usize::from(columns).saturating_sub(1);
    let room = columns.saturating_sub(WORD.len());
    let word = |text: &str| vec![(Role::Faint, pad_end(text, WORD.len()))];
    let mut lines = vec![word(WORD)];
    let mut rest = first;
    // A live session has one line: what it says changes, and the list would jump.
    if rows >= HIGH && !session.is_live() && width(&rest) > room {
        let mut wrapped = wrap(&rest, room);
        lines[0].push((role, wrapped.remove(0)));
        lines.push(word(""));
        rest = wrapped.join(" ");
    }
    let last = lines.len() - 1;
    lines[last].push((role, cut(&rest, room)));
    for (role, text) in said {
        // What would be cut is left out, but for the first.
        if width(&text) + 3 > columns.saturating_sub(spans::width(&lines[last])) {
            break;
        }
        lines[last].push((Role::Faint, format!(" {} ", look.glyph(Glyph::Dot))));
        lines[last].push((role, text));
    }
    lines
}

/// Pipes, lines and calls that hang now.
fn present(vitals: &Vitals, now: Moment) -> Spans {
    let age = |since: Moment| now.0.saturating_sub(since.0);
    let stalls = vitals.stalls.iter().map(|stall| {
        let (who, bytes) = (phrases::idle_reader(stall.stream), size(stall.bytes));
        let age = duration(age(stall.since));
        (Role::Bad, format!("{who}: {bytes} have waited for {age}"))
    });
    let unfinished = vitals.unfinished.iter();
    let unfinished = unfinished.filter(|line| age(line.since) > PATIENCE_NS);
    let unfinished = unfinished.map(|line| {
        let who = match line.stream {
            StreamId::C2S => "the host",
            StreamId::S2C => "the server",
            _ => "the server's stderr",
        };
        let (bytes, age) = (size(line.bytes), duration(age(line.since)));
        let text = format!("{who} has written {bytes} of a line and not ended it for {age}");
        (Role::Warn, text)
    });
    let waiting = waiting(&vitals.open, now).map(|text| (Role::Open, text));
    stalls.chain(unfinished).chain(waiting).collect()
}

/// `waiting for the server: work for 3.1 s (#12)`, if one of these calls has waited for long.
pub fn waiting(open: &[Exchange], now: Moment) -> Option<String> {
    let age = |exchange: &Exchange| now.0.saturating_sub(exchange.t_request.0);
    // Of a call in which the server asks its client, the client is to be waited for, however
    // young its question is.
    let is_asked = |exchange: &&Exchange| exchange.direction == Direction::ServerToClient;
    let oldest = open.iter().find(|one| age(one) > PATIENCE_NS)?;
    let open = open.iter().find(is_asked).unwrap_or(oldest);
    let whom = if is_asked(&open) { "client" } else { "server" };
    let (call, age) = (cause::call(open), duration(age(open)));
    let seq = open.request.0.0;
    Some(format!("waiting for the {whom}: {call} for {age} (#{seq})"))
}

/// The causes of what went wrong.
pub fn past(vitals: &Vitals) -> Spans {
    let live = vitals.standing == Standing::Live;
    let is_told = |cause: &&Cause| cause.is_trouble() && !(live && cause.is_wait());
    let causes: Vec<_> = vitals.causes.iter().filter(is_told).collect();
    let role = |cause: &Cause| match cause.certainty {
        Certainty::Possible => Role::Warn,
        Certainty::Likely | Certainty::Certain => Role::Bad,
    };
    let told = |cause: &&Cause| (role(cause), escape(&cause.sentence).into_owned());
    let mut said: Spans = causes.iter().map(told).collect();
    // Nothing can be said.
    let remark = vitals.causes.first().filter(|_| said.is_empty() && !live);
    if let Some(remark) = remark.filter(|cause| cause.id != NOTHING_WRONG) {
        said.push((Role::Warn, escape(&remark.sentence).into_owned()));
    }
    said
}

const LETTERS: &str = "123456789abcdefghi";

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    if action != Action::Why {
        return None;
    }
    let causes = app.questions.read(
        Slot::Why,
        session,
        |source, _| {
            let began = source.summary.wall_ns;
            let now = || Moment(wall_clock_ns().saturating_sub(began));
            let facts = source.recording.facts(source.is_live.then(now))?;
            Ok(cause::causes(&facts))
        },
        found,
    );
    Some(vec![causes])
}

fn found(app: &mut App, session: &mut Session, causes: Vec<Cause>) -> Effects {
    // Whoever has opened something else since then is not to be interrupted.
    if !app.overlays.is_empty() {
        return vec![];
    }
    session.causes = causes;
    account(app, session, 0)
}

/// Opens the account of one of the causes.
fn account(app: &mut App, session: &mut Session, at: usize) -> Effects {
    let causes = &session.causes;
    let cause = causes.get(at);
    let Some(cause) = cause else {
        return vec![];
    };
    let summary = session.vitals.as_deref().map(|vitals| &vitals.summary);
    let other_side = summary.and_then(|summary| other_side(summary, session.path.parent()?));
    app.push(menu(cause, at, causes, other_side))
}

fn menu(cause: &Cause, at: usize, causes: &[Cause], other_side: Option<Entry>) -> Menu {
    let certainty = cause.certainty;
    let title = if cause.is_trouble() {
        format!("why: {}, {}", certainty.as_str(), certainty.help())
    } else {
        "why".to_owned()
    };
    let text = [cause.sentence.as_str(), "", cause.advice];
    let text = text.map(|text| (Role::Text, escape(text).into_owned()));
    let others = (0..causes.len()).filter(|other| *other != at);
    let others = others.map(|other| besides(other, &causes[other]));
    let evidence = cause.evidence.iter().map(leads_to);
    let entries = evidence.chain(other_side).chain(others);
    let with_letter = |(letter, entry)| Entry { letter, ..entry };
    let entries = LETTERS.chars().zip(entries).map(with_letter);
    Menu {
        text: text.into(),
        // It is read from its beginning, however far down the first entry is.
        top: Some(0),
        ..Menu::new(title, entries.collect())
    }
}

fn label(evidence: &Evidence) -> String {
    let text = &evidence.text;
    match evidence.place {
        Place::Frame(seq) | Place::Stderr(seq) => format!("#{}  {text}", seq.0),
        Place::Event { t, .. } => format!("{}  {text}", since(t.0)),
        Place::Session => text.clone(),
    }
}

fn leads_to(evidence: &Evidence) -> Entry {
    let label = escape(&label(evidence)).into_owned();
    match evidence.place.frame() {
        None => Entry::nothing(' ', label),
        Some(seq) => Entry::in_session(' ', label, move |_, session| list::goto(session, seq)),
    }
}

/// Leads to the account of another cause.
fn besides(at: usize, cause: &Cause) -> Entry {
    let label = format!("besides, {}: {}", cause.certainty.as_str(), cause.sentence);
    Entry::in_session(' ', escape(&label), move |app, session| {
        account(app, session, at)
    })
}

/// Opens the recording of the other side of a bridge, which lies in the folder `dir`.
fn other_side(summary: &Summary, dir: &Path) -> Option<Entry> {
    let (id, has) = recording::other_side_has(summary)?;
    let label = format!("the recording {id}: {has}");
    let (id, dir) = (id.into_owned(), dir.to_owned());
    Some(Entry::new(' ', label, move |_| {
        let find = move || match Library::new(&dir).with_id(&id) {
            Some(path) => Answer::new(move |viewer| session::open(viewer, &path, None)),
            None => Answer::failed(format!("{id} is not in {}", dir.display())),
        };
        vec![Ask::Change(Box::new(find)).into()]
    }))
}
