//! What stands in a list without rows: why there are none.

use crate::action::Action;
use crate::app::filter::Relaxed;
use crate::app::session::Opening;
use crate::app::{App, Session};
use crate::theme::Role;
use mcpreel_store::library::Standing;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::item::What;
use mcpreel_wire::text::{clock, escape, plural, size};

/// Rows that are looked at for the start of the server: it is among the first.
const LOOKED_AT: usize = 16;

/// Why there are no rows, line by line.
pub fn reasons(app: &App, session: &Session) -> Vec<(Role, String)> {
    match &session.opening {
        Opening::Asked => vec![(Role::Faint, "opening …".to_owned())],
        Opening::Waiting => vec![(Role::Open, "the recorder is starting …".to_owned())],
        Opening::Draining(done, of) => {
            let text = format!(
                "completing the recording from its spool: {} of {}",
                size(*done),
                size(*of)
            );
            vec![(Role::Open, text)]
        }
        Opening::Deriving => {
            vec![(
                Role::Open,
                "deriving exchanges and findings anew …".to_owned(),
            )]
        }
        Opening::Unreadable(message) => vec![
            (Role::Bad, message.clone()),
            (Role::Faint, "q goes back to the recordings".to_owned()),
        ],
        Opening::Open => nothing(app, session),
    }
}

fn nothing(app: &App, session: &Session) -> Vec<(Role, String)> {
    let scan = &session.list.scan;
    if scan.shown != scan.generation || !scan.done && !scan.stopped {
        let text = format!("looking … {} %", scan.percent);
        return vec![(Role::Faint, text)];
    }
    if session.filter.in_force().expr.is_some() {
        return filtered(app, session);
    }
    match session.vitals.as_deref() {
        Some(vitals) if vitals.standing == Standing::Live => {
            vec![(Role::Open, waiting(app, session))]
        }
        _ => vec![(Role::Faint, "nothing was recorded".to_owned())],
    }
}

fn filtered(app: &App, session: &Session) -> Vec<(Role, String)> {
    let scan = &session.list.scan;
    let hidden = scan.total.map_or_else(String::new, |total| {
        format!("; {} hidden", plural(total, "row"))
    });
    let so_far = if scan.stopped {
        format!(" in the {} % that were looked at", scan.percent)
    } else {
        String::new()
    };
    let text = format!("no row fits the filter{so_far}{hidden}");
    let mut lines = vec![(Role::Warn, text)];
    let key = app.settings.keymap.keys(Action::Relax).first().copied();
    let key = key.map_or_else(|| ":relax".to_owned(), |key| key.to_string());
    match &session.filter.relaxed {
        Relaxed::Fits(query, count, more) => {
            let least = if *more { "at least " } else { "" };
            let rows = format!("{least}{}", plural(*count, "row"));
            let (fitting, does) = match query.to_string() {
                text if text.is_empty() => (
                    format!("without a filter there would be {rows}"),
                    "takes it away",
                ),
                text => (
                    format!("with {} there would be {rows}", escape(&text)),
                    "takes that filter",
                ),
            };
            lines.push((Role::Text, fitting));
            lines.push((Role::Key, format!("{key} {does}")));
        }
        Relaxed::Nothing => {
            let text = "nothing would fit without one of its conditions either";
            lines.push((Role::Faint, text.to_owned()));
        }
        Relaxed::Unknown | Relaxed::Asked(_) => {}
    }
    lines
}

/// What a session without a message waits for.
pub fn waiting(app: &App, session: &Session) -> String {
    let running = clock(session.now(app.now).0);
    let pid = session.list.index.rows(0, LOOKED_AT).find_map(|row| {
        let item = session.list.cache.get(row.key())?;
        match &item.what {
            What::Event(event) => match event.kind {
                EventKind::Spawned { pid } => Some(pid),
                _ => None,
            },
            _ => None,
        }
    });
    let pid = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
    format!("waiting for the first message; the server started {running} ago{pid}")
}
