//! What a rule means, and where it was broken.
//!
//! ```text
//! error  rpc-result-and-error        why    a peer cannot know which of them counts
//! both result and error are there    fix    send one of them
//!                                    rule   JSON-RPC 2.0, section 5
//! found  the response has both              https://www.jsonrpc.org/specification#…
//! at     result                      holds  all revisions
//! in     #1201, with #1187
//! ```
//!
//! Lines are as long as they are: whoever draws them wraps them ([`wrapped`]).

use crate::action::Action;
use crate::app::{App, Session};
use crate::theme::{self, Glyph, Look, Role};
use crate::widget::pager::{self, Text};
use crate::widget::spans::Spans as Line;
use mcpreel_lint::rule::Rule;
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::text::{cut, escape, pad_end, width};

/// Columns of the words at the left.
const WORDS: usize = 7;

/// All that is known of a rule that was broken with a severity, and of one finding of it.
/// Addresses are those of `revision`, where the rule is of that.
pub fn lines(
    rule: &str,
    severity: &str,
    finding: Option<&FindingRow>,
    revision: Option<Revision>,
) -> Vec<Line> {
    let (_, color) = theme::severity(severity);
    let word = format!("{}  ", escape(severity));
    let mut lines = vec![vec![
        (color, word),
        (Role::Title, escape(rule).into_owned()),
    ]];
    let rule = mcpreel_lint::rule(rule);
    let summary = rule.map_or("no rule of this version: found by another one", |rule| {
        rule.summary
    });
    lines.push(vec![(Role::Text, summary.to_owned())]);
    if let Some(finding) = finding {
        lines.push(Line::new());
        lines.extend(place(finding));
    }
    if let Some(rule) = rule {
        lines.push(Line::new());
        lines.extend(meaning(rule, revision));
    }
    lines
}

pub fn place(finding: &FindingRow) -> Vec<Line> {
    let mut lines = vec![line("found", Role::Text, escape(&finding.detail))];
    let path = finding.path.as_deref();
    lines.extend(path.map(|path| line("at", Role::Text, escape(path))));
    let frames = frames(finding);
    lines.extend(frames.map(|frames| line("in", Role::Text, frames)));
    lines
}

/// Why it matters, what to do, and where it is written.
pub fn meaning(rule: &Rule, revision: Option<Revision>) -> Vec<Line> {
    let mut lines = vec![
        line("why", Role::Text, rule.why),
        line("fix", Role::Text, rule.fix),
    ];
    let newest = rule.revisions.iter().last();
    let of = revision.filter(|revision| rule.revisions.contains(*revision));
    if let (Some(section), Some(revision)) = (rule.section, of.or(newest)) {
        lines.push(line("spec", Role::Text, section.title));
        lines.push(line("", Role::Faint, section.url(revision)));
    }
    let revisions = mcpreel_lint::rule::revisions(rule.revisions);
    let milder = mcpreel_lint::rule::in_brackets(rule, str::to_owned);
    lines.push(line("for", Role::Faint, format!("{revisions}{milder}")));
    lines
}

/// The same of a finding.
pub fn of_finding(finding: &FindingRow, revision: Option<Revision>) -> Vec<Line> {
    lines(&finding.rule, &finding.severity, Some(finding), revision)
}

fn frames(finding: &FindingRow) -> Option<String> {
    let number = |seq: &Seq| format!("#{}", seq.0);
    let related: Vec<_> = finding.related.iter().map(number).collect();
    let related = Some(related.join(", ")).filter(|related| !related.is_empty());
    match (finding.frame.as_ref().map(number), related) {
        (Some(frame), Some(related)) => Some(format!("{frame}, with {related}")),
        (frame, related) => frame.or(related),
    }
}

fn line(word: &str, role: Role, text: impl Into<String>) -> Line {
    vec![(Role::Key, pad_end(word, WORDS)), (role, text.into())]
}

/// The lines in `columns` columns and `rows` rows; where there are more, the last one says so, and
/// how they are all seen.
pub fn wrapped(
    lines: &[Line],
    (columns, rows): (usize, usize),
    all: &str,
    look: &Look,
) -> Vec<Line> {
    let lines = lines.iter().flat_map(|line| pager::wrapped(line, columns));
    let mut lines: Vec<_> = lines.collect();
    if lines.len() <= rows {
        return lines;
    }
    let left = lines.len() - rows.saturating_sub(1);
    lines.truncate(rows.saturating_sub(1));
    let more = look.glyph(Glyph::More);
    let long = format!("{more} {left} more lines: {all}");
    let short = format!("{more} {all}");
    let said = if width(&long) <= columns { long } else { short };
    lines.push(vec![(Role::Faint, cut(&said, columns))]);
    lines
}

/// The revision that a session speaks.
pub fn revision(session: &Session) -> Option<Revision> {
    let facts = &session.vitals.as_deref()?.summary.session;
    Revision::judging(facts.version_agreed.as_deref()?)
}

/// An explanation as a text to be read.
pub fn explanation(lines: Vec<Line>) -> Text {
    Text::new("what it means", lines)
}

/// How an explanation is read in full.
pub fn hint(app: &App) -> String {
    let keys = app.settings.keymap.keys(Action::Explain);
    let key = keys.first().map(ToString::to_string);
    let key = key.unwrap_or_else(|| format!(":{}", Action::Explain.row().name));
    format!("{key} shows all of it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[Line]) -> String {
        let line = |line: &Line| line.iter().map(|(_, text)| text.as_str()).collect();
        lines.iter().map(line).collect::<Vec<String>>().join("\n")
    }

    fn finding() -> FindingRow {
        FindingRow {
            id: 1,
            rule: "rpc-result-and-error".into(),
            severity: "error".into(),
            frame: Some(Seq(9)),
            exchange: None,
            path: Some("result.a\u{202e}b".into()),
            related: vec![Seq(4), Seq(7)],
            detail: "both \u{1b}[31m".into(),
        }
    }

    #[test]
    fn an_explanation_says_why_what_to_do_where_and_in_which_frames_and_escapes_what_is_foreign() {
        let finding = finding();
        let all = text(&of_finding(&finding, None));
        let rule = mcpreel_lint::rule("rpc-result-and-error").expect("it is a rule");
        for said in [rule.summary, rule.why, rule.fix, "https://", "revisions"] {
            assert!(all.contains(said), "{said}: {all}");
        }
        assert!(all.contains("#9, with #4, #7"), "{all}");
        assert!(all.contains("result.a\\u{202e}b"), "{all}");
        assert!(!all.contains('\u{1b}'), "{all}");
    }

    #[test]
    fn what_does_not_fit_is_told_of_and_never_wider_than_there_is_room() {
        let finding = finding();
        let lines = of_finding(&finding, None);
        for columns in 20..60 {
            let shown = wrapped(&lines, (columns, 4), "i reads on", &Look::default());
            assert_eq!(shown.len(), 4);
            assert!(text(&shown).ends_with("i reads on"), "{}", text(&shown));
            let wide = |line: &Line| line.iter().map(|(_, text)| width(text)).sum::<usize>();
            assert!(
                shown.iter().all(|line| wide(line) <= columns),
                "{}",
                text(&shown)
            );
        }
        let whole = wrapped(&lines, (60, 100), "i reads on", &Look::default());
        assert!(!text(&whole).contains("reads on"));
        let address = lines.iter().map(|line| text(std::slice::from_ref(line)));
        let mut address = address.filter(|line| line.contains("https://"));
        let address = address.next().expect("it is written somewhere");
        let narrow = wrapped(&lines, (width(address.trim()), 100), "", &Look::default());
        assert!(text(&narrow).contains(address.trim()), "{}", text(&narrow));
    }
}
