//! The places of findings in the trees of a row.
//!
//! A finding has a path; the node there carries it, or where there is no such member the nearest
//! one around: what is missing is missing in something. A finding without a path is about the
//! message as a whole, and stands above it anyway.

use crate::widget::tree::{NodeId, Tree};
use mcpreel_lint::{Severity, quote};
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Path, Step};
use mcpreel_wire::text::escape;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Findings that are placed in a message: each is a walk along its path, past up to as many
/// members as a tree has.
const PLACED: usize = 200;

/// The findings in a tree, by their nodes; of each node the worst first.
#[derive(Clone, Debug, Default)]
pub struct Violations {
    by_node: BTreeMap<NodeId, Vec<Violation>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub finding: usize,
    pub severity: Severity,
    pub told: String,
}

/// The findings in one row of a tree, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong<'v> {
    pub worst: Severity,
    pub count: usize,
    /// The text of the finding, if it is one at this very node.
    pub told: Option<&'v str>,
}

impl Violations {
    /// The findings at `node` itself, the worst first.
    pub fn at(&self, node: NodeId) -> &[Violation] {
        self.by_node.get(&node).map_or(&[], Vec::as_slice)
    }

    /// The node of the finding with this number.
    pub fn place_of(&self, finding: usize) -> Option<NodeId> {
        let is_it = |violation: &Violation| violation.finding == finding;
        let mut places = self.by_node.iter();
        places.find_map(|(node, all)| all.iter().any(is_it).then_some(*node))
    }

    /// What is to be said of these nodes together, in the row of the first of them; none where
    /// nothing was found.
    pub fn within(&self, nodes: RangeInclusive<NodeId>) -> Option<Wrong<'_>> {
        let own = self.at(*nodes.start());
        let all = || self.by_node.range(nodes.clone()).flat_map(|(_, all)| all);
        let worst = all().map(|violation| violation.severity).max()?;
        let count = all().count();
        let first = own.first().filter(|_| own.len() == count);
        Some(Wrong {
            worst,
            count,
            told: first.map(|violation| violation.told.as_str()),
        })
    }
}

pub fn severity(finding: &FindingRow) -> Severity {
    finding.severity.parse().unwrap_or(Severity::Note)
}

/// The findings that stand in the tree of the message in this frame. They must be about the message,
/// the worst first.
pub fn of(tree: Option<&Tree>, frame: Seq, findings: &[FindingRow]) -> Violations {
    let mut violations = Violations::default();
    let Some(tree) = tree else {
        return violations;
    };
    let here = |finding: &FindingRow| finding.frame == Some(frame);
    let findings = findings.iter().enumerate();
    for (at, finding) in findings.filter(|(_, one)| here(one)).take(PLACED) {
        let path = finding.path.as_deref().and_then(|path| path.parse().ok());
        let Some(path) = path else { continue };
        let (node, missing) = nearest(tree, &path);
        let violation = Violation {
            finding: at,
            severity: severity(finding),
            told: told(finding, &missing),
        };
        violations.by_node.entry(node).or_default().push(violation);
    }
    violations
}

/// The text of a finding, after the part of its path that leads nowhere.
fn told(finding: &FindingRow, missing: &Path) -> String {
    let detail = escape(&finding.detail);
    match missing.steps() {
        [] => detail.into_owned(),
        _ => format!("{}: {detail}", escape(&missing.to_string())),
    }
}

/// The node at `path`, or the innermost one on the way to it that there is, and the rest of the
/// way.
fn nearest(tree: &Tree, path: &Path) -> (NodeId, Path) {
    let mut at = NodeId::ROOT;
    for (walked, step) in path.steps().iter().enumerate() {
        let next = match step {
            Step::Member(name) => member(tree, at, name),
            Step::Element(position) => tree.element(at, *position),
            Step::Every => None,
        };
        let Some(next) = next else {
            return (at, Path::new(path.steps()[walked..].to_vec()));
        };
        at = next;
    }
    (at, Path::default())
}

/// The member of this name, the last one where there are several; also by a name that was escaped
/// or shortened for the finding.
fn member(tree: &Tree, object: NodeId, name: &str) -> Option<NodeId> {
    let plain = format!("\"{name}\"");
    let is_shortened = name.contains(['\\', '…']);
    // Names are resolved only where that can make a difference: there may be very many.
    let is_it = |(key, node): &(&[u8], NodeId)| {
        let may_differ = is_shortened || key.contains(&b'\\');
        let resolved = may_differ.then(|| tree.name(*node)).flatten();
        *key == plain.as_bytes()
            || resolved.is_some_and(|one| one == name || quote::text(&one) == name)
    };
    let named = tree.members_of(object).filter(is_it);
    named.last().map(|(_, node)| node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::widget::tree::PAGE;

    fn tree(json: &str) -> Tree {
        Tree::read(json.as_bytes().into(), PAGE).expect("it is JSON")
    }

    fn of(tree: &Tree, findings: &[FindingRow]) -> Violations {
        super::of(Some(tree), Seq(3), findings)
    }

    fn finding(frame: u64, severity: &str, path: &str) -> FindingRow {
        FindingRow {
            id: 1,
            rule: "rule".into(),
            severity: severity.into(),
            frame: Some(Seq(frame)),
            exchange: None,
            path: Some(path.into()),
            related: Vec::new(),
            detail: path.into(),
        }
    }

    /// The path of the node at which a finding with this path stands.
    fn placed(json: &str, path: &str) -> Option<String> {
        let tree = tree(json);
        let violations = of(&tree, &[finding(3, "error", path)]);
        let node = violations.place_of(0)?;
        Some(tree.path(node).to_string())
    }

    #[test]
    fn a_finding_stands_at_its_path_or_at_the_nearest_place_around() {
        let json = r#"{"params":{"arguments":{"q":1,"q":2,"odd key":[{},{"a\u0062":0}]}}}"#;
        for (path, place) in [
            ("params.arguments.q", "params.arguments.q"),
            (
                "params.arguments[\"odd key\"][1].ab",
                "params.arguments[\"odd key\"][1].ab",
            ),
            (
                "params.arguments[\"odd key\"][1].no.way",
                "params.arguments[\"odd key\"][1]",
            ),
            (
                "params.arguments[\"odd key\"][7]",
                "params.arguments[\"odd key\"]",
            ),
            ("params.arguments.q.r", "params.arguments.q"),
            ("params.name", "params"),
            ("result", ""),
        ] {
            assert_eq!(placed(json, path).as_deref(), Some(place), "{path}");
        }
        assert_eq!(placed(json, "no path ]["), None);
        let tree = tree(json);
        let violations = of(&tree, &[finding(3, "error", "params.name[0]")]);
        let node = violations.place_of(0).expect("it has a place");
        let told = &violations.at(node)[0].told;
        assert_eq!(told, "name[0]: params.name[0]", "what is missing there");
    }

    #[test]
    fn what_is_folded_counts_what_is_in_it_and_shows_the_worst() {
        let tree = tree(r#"{"a":{"b":1,"c":2},"d":3}"#);
        let found = [
            finding(3, "error", "a.c"),
            finding(3, "warning", "a"),
            finding(3, "note", "d"),
            finding(9, "error", "d"),
        ];
        let violations = of(&tree, &found);
        let nodes: Vec<_> = violations.by_node.keys().copied().collect();
        let places = nodes.iter().map(|node| tree.path(*node).to_string());
        assert_eq!(places.collect::<Vec<_>>(), ["a", "a.c", "d"]);
        let a = violations.within(tree.all_of(nodes[0])).unwrap();
        assert_eq!((a.worst, a.count, a.told), (Severity::Error, 2, None));
        let open = violations.within(nodes[0]..=nodes[0]).unwrap();
        assert_eq!((open.worst, open.told), (Severity::Warning, Some("a")));
        let d = violations.within(tree.all_of(nodes[2])).unwrap();
        assert_eq!(
            (d.worst, d.count),
            (Severity::Note, 1),
            "of this frame only"
        );
    }
}
