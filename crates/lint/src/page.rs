//! The page of all rules, in Markdown.

use super::{catalogue, families};
use crate::{Revisions, Rule, Severity};
use mcpreel_wire::mcp::Revision;
use std::fmt::Write as _;

/// Every rule by family: what it finds, why that matters, what to do, and where it is written.
pub fn markdown() -> String {
    let mut page = format!(
        "# Rules\n\nThe {} rules that mcpreel applies to every recording. An *error* breaks a MUST \
         of the specification or the wire format, a *warning* a SHOULD or is very likely a \
         mistake, a *note* is worth knowing. `mcpreel lint` tells what they find, `mcpreel lint \
         --explain RULE` what stands here.\n",
        catalogue().len()
    );
    for family in families() {
        heading(&mut page, family.name);
        for rule in &family.rules {
            self::rule(&mut page, rule);
        }
    }
    page
}

/// `all revisions`, `2025-11-25 and later`, `up to 2025-11-25`, or the list of them.
pub fn revisions(of: Revisions) -> String {
    let (all, listed) = (Revision::ALL, of.iter().collect::<Vec<_>>());
    let (Some(first), Some(last)) = (listed.first(), listed.last()) else {
        return "no revision".to_owned();
    };
    let is_span = of == Revisions::between(*first, *last);
    match (is_span, *first == all[0], *last == all[all.len() - 1]) {
        (true, true, true) => "all revisions".to_owned(),
        (true, ..) if first == last => format!("{first}"),
        (true, false, true) => format!("{first} and later"),
        (true, true, false) => format!("up to {last}"),
        _ => listed
            .iter()
            .map(|one| one.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// The cases in which findings of a rule are milder, with the severity there: `up to
/// 2025-03-26`, `in 2026-07-28`, `where …`.
pub fn milder(rule: &Rule) -> Vec<(Severity, String)> {
    let by_revision = rule.milder_in.map(|(severity, revisions)| {
        let revisions = self::revisions(revisions);
        let is_span = revisions.starts_with("up to ");
        let place = if is_span { "" } else { "in " };
        (severity, format!("{place}{revisions}"))
    });
    let by_case = rule
        .milder_where
        .map(|(severity, circumstances)| (severity, format!("where {circumstances}")));
    by_revision.into_iter().chain(by_case).collect()
}

/// The same in one text: ` (warning up to 2025-03-26)`, empty where nothing varies. Severities are
/// written by `word`.
pub fn in_brackets(rule: &Rule, word: impl Fn(&str) -> String) -> String {
    let milder = milder(rule).into_iter();
    let said: Vec<_> = milder
        .map(|(severity, place)| format!("{} {place}", word(severity.as_str())))
        .collect();
    if said.is_empty() {
        return String::new();
    }
    format!(" ({})", said.join("; "))
}

fn heading(page: &mut String, name: &str) {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "\n## {}{}\n",
        first.unwrap_or_default(),
        letters.as_str()
    );
}

fn rule(page: &mut String, rule: &Rule) {
    let (id, severity) = (rule.id, rule.severity.as_str());
    let milder = in_brackets(rule, |severity| format!("*{severity}*"));
    let revisions = revisions(rule.revisions);
    let section = rule.reference();
    let section = section.map_or_else(String::new, |(title, url)| format!(" · [{title}]({url})"));
    let _ = write!(
        page,
        "\n### {id}\n\n*{severity}*{milder} · {revisions}{section}\n\n{}. {}\n\n**Fix:** {}\n",
        capital(rule.summary),
        rule.why,
        rule.fix
    );
}

fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) if first.is_lowercase() => {
            format!("{}{}", first.to_uppercase(), letters.as_str())
        }
        _ => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_revisions_is_said_in_words() {
        let [_, b, c, d, _] = Revision::ALL;
        for (set, said) in [
            (Revisions::ALL, "all revisions"),
            (Revisions::LEGACY, "up to 2025-11-25"),
            (Revisions::MODERN, "2026-07-28"),
            (Revisions::since(c), "2025-06-18 and later"),
            (Revisions::between(b, b), "2025-03-26"),
            (
                Revisions::ALL.without(b),
                "2024-11-05, 2025-06-18, 2025-11-25, 2026-07-28",
            ),
            (Revisions::between(c, d), "2025-06-18, 2025-11-25"),
        ] {
            assert_eq!(revisions(set), said);
        }
        assert!(markdown().contains("### frame-not-json\n"));
    }
}
