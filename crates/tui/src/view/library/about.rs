//! More about the recording under the cursor.
//!
//! ```text
//! ────────────────────────────────────────────────────────────────────────────
//!  7f3a9c21 weather-server; for claude-code 2.1; npx -y weather-server
//!  the recorder was killed; what its spool still holds is added when it is opened
//! ```

use crate::app::App;
use crate::theme::Role;
use crate::worker::library::Row;
use mcpreel_share::phrases;
use mcpreel_store::library::{Details, Entry, Standing};
use mcpreel_store::schema::State;
use mcpreel_wire::text::{cut, escape, size};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub fn draw(app: &App, row: &Row, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let columns = usize::from(area.width);
    let rule = look.border().horizontal_top.repeat(columns);
    let lines = [
        (Role::Border, rule),
        (Role::Text, format!(" {}", who(&row.entry))),
        (role(&row.entry), format!(" {}", how(&row.entry))),
    ];
    for ((role, text), area) in lines.into_iter().zip(area.rows()) {
        frame.render_widget(Line::styled(cut(&text, columns), look.style(role)), area);
    }
}

/// Its id and name, who spoke to it, and what was started.
fn who(entry: &Entry) -> String {
    let name = match entry.context() {
        _ => escape(&entry.name).into_owned(),
    };
    let mut parts = vec![format!("{} {name}", escape(&entry.id))];
    let client = entry
        .summary()
        .and_then(|summary| phrases::peer(&summary.session.client));
    parts.extend(client.map(|client| format!("for {client}")));
    if let Some(context) = entry.context() {
        parts.push(phrases::command(&context.argv));
    }
    parts.join("; ")
}

/// How it stands, what is missing, what somebody wrote.
fn how(entry: &Entry) -> String {
    let mut parts = vec![standing(entry)];
    if let Some(summary) = entry.summary() {
        if let Some(parent) = &summary.parent {
            let (origin, parent) = (escape(&summary.origin), escape(parent));
            parts.push(format!("{origin} of {parent}; P compares them"));
        }
        if summary.gap_bytes > 0 {
            let missing = size(summary.gap_bytes);
            parts.push(format!(
                "gap: {missing} were forwarded and are not on record"
            ));
        }
        if let Some(note) = &summary.note {
            parts.push(format!("note: {}", escape(note)));
        }
    }
    parts.join("; ")
}

fn standing(entry: &Entry) -> String {
    let end = || entry.end().map(phrases::end).unwrap_or_default();
    match (entry.standing, &entry.details) {
        (_, Details::Unreadable(error)) => phrases::sentence(error),
        (Standing::Live, _) => "being recorded".to_owned(),
        (Standing::Pending, _) => {
            "the session is over; the rest of it is indexed when it is opened".to_owned()
        }
        (Standing::Interrupted, _) => {
            "the recorder was killed; what its spool still holds is added when it is opened"
                .to_owned()
        }
        (Standing::Cut, _) => {
            "a copy that was made while it was recorded: it may be short".to_owned()
        }
        (_, Details::Recorded(summary)) if summary.state == State::Recovered => {
            format!(
                "the recorder was killed, and it was completed from its spool; {}",
                end()
            )
        }
        _ => end(),
    }
}

fn role(entry: &Entry) -> Role {
    match entry.standing {
        Standing::Unreadable => Role::Bad,
        Standing::Finished | Standing::Live => Role::Faint,
        _ => Role::Warn,
    }
}
