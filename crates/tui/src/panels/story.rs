//! Why the session went wrong: one line above the panes, and the whole account.
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
//! In the line what hangs now comes first, then the causes of what went wrong, the best first, then
//! what was lost with them and the last words of stderr: as many as fit. Where nothing went wrong
//! but a rule warns or worse, the line says so. In the account evidence leads to its frame, another
//! cause to its own account.

use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::panels::list;
use crate::panels::menu::{Entry, Menu};
use crate::theme::Role;
use crate::worker::Vitals;
use crate::worker::job::{Job, Progress, Slot, Source, Step};
use mcpreel_lint::cause::{self, Cause, Certainty, Evidence, NOTHING_WRONG, Place};
use mcpreel_share::phrases;
use mcpreel_store::library::Standing;
use mcpreel_trace::clock::{Moment, wall_clock_ns};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::{End, Side};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, duration, escape, escape_bytes, since, size, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// What waits for less is not worth a word, nanoseconds.
const PATIENCE_NS: u64 = 1_000_000_000;

/// Lines of stderr that are told.
const LINES: usize = 3;

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let Some(vitals) = session.vitals.as_deref().filter(|_| !area.is_empty()) else {
        return;
    };
    let look = &app.settings.look;
    let mut said = if session.is_live() {
        present(vitals, session.now(app.now))
    } else {
        Vec::new()
    };
    said.extend(past(vitals));
    if said.is_empty() {
        return;
    }
    let mut room = usize::from(area.width).saturating_sub(7);
    let mut spans = vec![Span::styled(" why  ", look.style(Role::Faint))];
    for (at, (role, text)) in said.into_iter().enumerate() {
        let fits = width(&text) + 3 <= room;
        if at > 0 && !fits {
            break;
        }
        if at > 0 {
            spans.push(Span::styled(" · ", look.style(Role::Faint)));
            room -= 3;
        }
        let text = cut(&text, room);
        room = room.saturating_sub(width(&text));
        spans.push(Span::styled(text, look.style(role)));
    }
    frame.render_widget(Line::from(spans), area);
}

type Said = Vec<(Role, String)>;

fn present(vitals: &Vitals, now: Moment) -> Said {
    let mut said = Said::new();
    let age = |since: Moment| now.0.saturating_sub(since.0);
    for stall in &vitals.stalls {
        let who = phrases::idle_reader(stall.stream);
        let text = format!(
            "{who}: {} have waited for {}",
            size(stall.bytes),
            duration(age(stall.since))
        );
        said.push((Role::Bad, text));
    }
    for line in vitals
        .unfinished
        .iter()
        .filter(|line| age(line.since) > PATIENCE_NS)
    {
        let text = format!(
            "{} has written {} of a line and not ended it for {}",
            writer(line.stream),
            size(line.bytes),
            duration(age(line.since))
        );
        said.push((Role::Warn, text));
    }
    // Of a call in which the server asks its client, the client is to be waited for, however
    // young its question is.
    let is_old = |exchange: &&Exchange| age(exchange.t_request) > PATIENCE_NS;
    if let Some(oldest) = vitals.open.iter().find(is_old) {
        let asked = vitals.open.iter().find(|exchange| is_of_server(exchange));
        let exchange = asked.unwrap_or(oldest);
        said.push((Role::Open, waiting(exchange, age(exchange.t_request))));
    }
    said
}

fn is_of_server(exchange: &Exchange) -> bool {
    exchange.direction == Direction::ServerToClient
}

fn waiting(exchange: &Exchange, age: u64) -> String {
    let whom = if is_of_server(exchange) {
        "client"
    } else {
        "server"
    };
    format!(
        "waiting for the {whom}: {} for {} (#{})",
        cause::call(exchange),
        duration(age),
        exchange.request.0.0
    )
}

fn writer(stream: StreamId) -> &'static str {
    match stream {
        StreamId::C2S => "the host",
        StreamId::S2C => "the server",
        _ => "the server's stderr",
    }
}

/// What is over: its causes, and what was lost with them.
pub fn past(vitals: &Vitals) -> Said {
    let live = vitals.standing == Standing::Live;
    let is_told = |cause: &&Cause| cause.is_trouble() && !(live && cause.is_wait());
    let causes: Vec<_> = vitals.causes.iter().filter(is_told).collect();
    let role = |cause: &Cause| match cause.certainty {
        Certainty::Possible => Role::Warn,
        Certainty::Likely | Certainty::Certain => Role::Bad,
    };
    let mut said: Said = causes
        .iter()
        .map(|cause| (role(cause), escape(&cause.sentence).into_owned()))
        .collect();
    if is_bad_end(vitals) {
        let rest: Vec<_> = vitals
            .lost
            .iter()
            .filter(|exchange| !causes.iter().any(|cause| shows(cause, exchange)))
            .collect();
        said.extend(lost(&rest));
        said.extend(words_of_stderr(&vitals.last_words, &causes));
    }
    if said.is_empty() && !live {
        said.extend(remarks(vitals));
    }
    said
}

/// That nothing is wrong, where rules have more to say than notes; or that nothing can be said.
fn remarks(vitals: &Vitals) -> Said {
    let found = &vitals.severities;
    let Some(cause) = vitals.causes.first() else {
        return Said::new();
    };
    let text = escape(&cause.sentence).into_owned();
    match cause.id {
        NOTHING_WRONG if found.errors + found.warnings > 0 => {
            vec![(Role::Warn, text), (Role::Faint, "4 lists them".to_owned())]
        }
        NOTHING_WRONG => Said::new(),
        _ => vec![(Role::Warn, text)],
    }
}

fn shows(cause: &Cause, exchange: &Exchange) -> bool {
    let (seq, _) = exchange.request;
    let mut evidence = cause.evidence.iter();
    evidence.any(|one| one.place == Place::Frame(seq))
}

/// `no answer to search_docs (#83), file:///a.md (#85)`: what was open when it ended.
fn lost(lost: &[&Exchange]) -> Option<(Role, String)> {
    let text = format!("no answer to {}", cause::calls(lost.iter().copied()));
    (!lost.is_empty()).then_some((Role::Bad, text))
}

/// The last lines of stderr in their order, without those that a cause has told.
fn words_of_stderr(words: &[Box<[u8]>], causes: &[&Cause]) -> Option<(Role, String)> {
    let lines = words
        .iter()
        .map(|line| escape_bytes(line.trim_ascii()).to_string());
    let is_told = |line: &String| causes.iter().any(|cause| cause.sentence.contains(line));
    let mut lines: Vec<_> = lines
        .filter(|line| !line.is_empty() && !is_told(line))
        .collect();
    lines.drain(..lines.len().saturating_sub(LINES));
    let text = format!("also on stderr: {}", lines.join("; "));
    (!lines.is_empty()).then_some((Role::Faint, text))
}

/// Whether it ended, and not well.
fn is_bad_end(vitals: &Vitals) -> bool {
    let session = &vitals.summary.session;
    match session.phase.end() {
        None | Some(End::Exited { code: 0 }) => false,
        Some(End::Unknown) => vitals.summary.open > 0,
        // Whoever was told to go did not crash.
        Some(End::Killed { .. }) => {
            let closed = session.closed_first;
            closed.is_none_or(|closed| closed.by != Side::Host)
        }
        Some(_) => true,
    }
}

const LETTERS: &str = "123456789abcdefghi";

pub fn perform(app: &mut App, _: &mut Session, action: Action) -> Option<Effects> {
    if action != Action::Why {
        return None;
    }
    Some(vec![app.questions.ask(Slot::Why, Asking, found)])
}

/// Reads the causes once.
struct Asking;

impl Job for Asking {
    type Found = Vec<Cause>;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        let began = source.summary.wall_ns;
        let now = || Moment(wall_clock_ns().saturating_sub(began));
        let facts = source.recording.facts(source.is_live.then(now))?;
        let causes = cause::causes(&facts);
        Ok((Progress::Done, Some(causes)))
    }
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
pub fn account(app: &mut App, session: &mut Session, at: usize) -> Effects {
    let causes = &session.causes;
    let menu = causes.get(at).map(|cause| menu(cause, at, causes));
    if let Some(menu) = menu {
        app.push(menu);
    }
    vec![]
}

fn menu(cause: &Cause, at: usize, causes: &[Cause]) -> Menu {
    let certainty = cause.certainty;
    let title = if cause.is_trouble() {
        format!("why: {}, {}", certainty.as_str(), certainty.help())
    } else {
        "why".to_owned()
    };
    let text = [cause.sentence.as_str(), "", cause.advice];
    let others = (0..causes.len()).filter(|other| *other != at);
    let others = others.map(|other| besides(other, &causes[other]));
    let entries = cause.evidence.iter().map(leads_to).chain(others);
    let with_letter = |(letter, entry)| Entry { letter, ..entry };
    let entries = LETTERS.chars().zip(entries).map(with_letter);
    Menu {
        text: text
            .map(|text| (Role::Text, escape(text).into_owned()))
            .into(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::frame::Seq;

    fn text(said: Option<(Role, String)>) -> String {
        said.map_or(String::new(), |(_, text)| text)
    }

    #[test]
    fn what_was_open_at_the_end_is_named() {
        let exchange = |seq: u64, name: &str| Exchange {
            request: (Seq(seq), 0),
            name: Some(name.into()),
            ..Exchange::begun(
                mcpreel_wire::message::Direction::ClientToServer,
                mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
                "tools/call",
            )
        };
        assert_eq!(lost(&[]), None);
        let two = [exchange(83, "search_docs"), exchange(85, "x\u{1b}[2J")];
        assert_eq!(
            text(lost(&two.each_ref())),
            "no answer to search_docs (#83), x\\u{1b}[2J (#85)"
                .replace("\\u{1b}", &escape("\u{1b}"))
        );
        let four = [1, 2, 3, 4].map(|seq| exchange(seq, "a"));
        assert!(text(lost(&four.each_ref())).ends_with("a (#3), …"));
    }

    #[test]
    fn lines_of_stderr_that_no_cause_has_told_are_told_in_their_order() {
        let words = ["zero", "one", "two", "", "boom", "three", "  "];
        let words = words.map(|line| line.as_bytes().into());
        let cause = Cause {
            id: "crashed",
            sentence: "it ended; stderr says: boom".to_owned(),
            certainty: Certainty::Certain,
            evidence: Vec::new(),
            advice: "",
        };
        let told = words_of_stderr(&words, &[&cause]);
        assert_eq!(text(told), "also on stderr: one; two; three");
        assert_eq!(words_of_stderr(&words[4..5], &[&cause]), None);
    }

    fn cause(id: &'static str, sentence: &str) -> Cause {
        Cause {
            id,
            sentence: sentence.to_owned(),
            certainty: Certainty::Likely,
            evidence: vec![Evidence {
                place: Place::Stderr(Seq(7)),
                text: "stderr: \u{1b}[2J".to_owned(),
            }],
            advice: "Look.",
        }
    }

    #[test]
    fn the_account_is_escaped_and_names_the_other_causes() {
        let causes = [
            cause("crashed", "it \u{202e}crashed"),
            cause("log-on-stdout", "it logs"),
        ];
        let menu = menu(&causes[0], 0, &causes);
        assert_eq!(menu.entries[1].label, "besides, likely: it logs");
        let shown = menu
            .entries
            .iter()
            .map(|entry| &entry.label)
            .chain(menu.text.iter().map(|(_, text)| text));
        for text in shown {
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
        }
    }
}
