//! What a bug report needs, as Markdown.
//!
//! Who spoke, what was asked and answered, what is wrong with it, what else happened meanwhile.
//! Not redacted, and it says so.

use crate::protocol::message::Direction;
use crate::text::{duration, escape, since, size};
use crate::trace::item::What;
use crate::tui::app::Session;
use crate::tui::app::detail::Shown;
use crate::tui::worker::detail::{Text, TextRole};
use crate::words;
use std::fmt::Write as _;

/// Bytes of a message that a reader of a bug report wants to see.
const MESSAGE: usize = 16 * 1024;

/// Rows of the story.
const STORY: usize = 40;

/// The report of a row.
pub(super) fn markdown(session: &Session, shown: &Shown) -> Option<String> {
    let summary = &session.vitals.as_deref()?.summary;
    let facts = &summary.session;
    let mut text = format!("## {}\n\n", title(shown));
    let unknown = || "unknown".to_owned();
    let agreed = facts.version_agreed.as_deref().map(escape);
    let rows = [
        ("server", words::peer(&facts.server).unwrap_or_else(unknown)),
        ("client", words::peer(&facts.client).unwrap_or_else(unknown)),
        (
            "protocol",
            agreed.map_or_else(unknown, std::borrow::Cow::into_owned),
        ),
        ("command", words::command(&summary.context.argv)),
        (
            "recorded",
            format!(
                "by mcpreel {}, {}#{}",
                summary.context.mcpreel,
                summary.id,
                shown.seq().0
            ),
        ),
    ];
    text.push_str("| | |\n|---|---|\n");
    for (name, value) in rows {
        let _ = writeln!(text, "| {name} | {} |", value.replace('|', "\\|"));
    }
    for part in &shown.parts {
        if let Some(message) = &part.text {
            let name = heading(message.role);
            let _ = write!(
                text,
                "\n### {name} ({})\n\n{}",
                size(message.size),
                fenced(message)
            );
        }
    }
    findings(shown, &mut text);
    story(shown, &mut text);
    text.push_str("\nNot redacted: read it before you post it.\n");
    Some(text)
}

fn title(shown: &Shown) -> String {
    match &shown.item.what {
        What::Exchange(exchange) => {
            let name = exchange
                .name
                .as_deref()
                .map_or(String::new(), |name| format!(" {}", escape(name)));
            let latency = exchange.latency_ns();
            let latency = latency.map_or(String::new(), |ns| format!(" after {}", duration(ns)));
            let status = exchange.status.as_str();
            format!("{}{name}: {status}{latency}", escape(&exchange.method))
        }
        _ => format!("frame #{}", shown.seq().0),
    }
}

fn heading(role: TextRole) -> &'static str {
    match role {
        TextRole::Request => "Request",
        TextRole::Response => "Response",
        TextRole::Message => "Message",
        TextRole::Line => "Line",
        TextRole::Event => "Event",
    }
}

fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "->",
        Direction::ServerToClient => "<-",
    }
}

/// The bytes between fences longer than any in them.
fn fenced(message: &Text) -> String {
    let bytes = &message.bytes[..message.bytes.len().min(MESSAGE)];
    let body = String::from_utf8_lossy(bytes.trim_ascii_end()).into_owned();
    let mut fence = "```".to_owned();
    while body.contains(&fence) {
        fence.push('`');
    }
    let left = message.size.saturating_sub(bytes.len() as u64);
    let cut = match left {
        0 => String::new(),
        left => format!("({} more)\n", size(left)),
    };
    format!("{fence}json\n{body}\n{fence}\n{cut}")
}

fn findings(shown: &Shown, text: &mut String) {
    if shown.findings.is_empty() {
        return;
    }
    text.push_str("\n### Findings\n\n");
    for finding in &shown.findings {
        let detail = escape(&finding.detail);
        let _ = writeln!(
            text,
            "* {} ({}): {detail}",
            escape(&finding.rule),
            finding.severity
        );
    }
}

fn story(shown: &Shown, text: &mut String) {
    let Some(story) = shown.story.as_ref().filter(|story| story.rows.len() > 2) else {
        return;
    };
    text.push_str("\n### What happened meanwhile\n\n```\n");
    for row in story.rows.iter().take(STORY) {
        let arrow = row.direction.map_or("  ", way);
        let _ = writeln!(
            text,
            "{:>10} {arrow} {} {}",
            since(row.t.0),
            row.word,
            row.text
        );
    }
    let left = story.left_out + story.rows.len().saturating_sub(STORY) as u64;
    if left > 0 {
        let _ = writeln!(text, "({left} more)");
    }
    text.push_str("```\n");
}
