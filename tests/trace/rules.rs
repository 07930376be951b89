//! Every rule fires where it should and is silent where it should: `tests/trace/rules/FAMILY/RULE.toml`.
//!
//! ```toml
//! [[fires]]                       # one at least
//! about = "what is wrong here"
//! session = "2025-11-25"          # a handshake of this revision comes before the record, or, for
//!                                 # 2026-07-28, requests and results get the `_meta` they need
//! client = '{"roots":{}}'         # what is declared there; everything where it is not said
//! server = '{"tools":{}}'
//! record = [[0, "s2c", '[INFO] listening']]
//! at = [1]                        # the frames of `record`, from 1, that the rule's findings point
//!                                 # at; 0 is a finding without a frame, -1 one of the handshake
//! severity = "error"              # of all of them; that of the rule where it is not said
//! path = "params.name"            # of the first, where it is said
//! says = "listening"              # stands in the detail of the first, where it is said
//!
//! [[near]]                        # one at least: nearly the same, and nothing is found
//! about = "…"
//! record = […]
//! ```
//!
//! Findings of other rules are not looked at. `live = true`: the recording goes on. The short
//! forms of rows are those of `support/told.rs`.

use crate::handshake::Start;
use crate::telling::Telling;
use crate::told::Row;
use crate::wire;
use mcpreel_lint::{Finding, Rule, Severity, families, rule};
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::frame::Seq;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// Below `tests/trace`; in it a folder for each family.
const FOLDER: &str = "rules";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    fires: Vec<Fires>,
    near: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    about: String,
    #[serde(flatten)]
    start: Start,
    #[serde(default)]
    record: Vec<Row>,
    /// Connections in place of a record: see `support/wire.rs`.
    http: Option<String>,
    #[serde(default)]
    live: bool,
}

#[derive(Deserialize)]
struct Fires {
    #[serde(flatten)]
    case: Case,
    at: Vec<i64>,
    severity: Option<String>,
    path: Option<String>,
    says: Option<String>,
}

#[test]
fn every_rule_fires_where_it_should_and_is_silent_where_it_should() {
    let mut failures = String::new();
    for path in crate::cases::files(FOLDER) {
        let rule = rule_of(&path);
        let cases: Cases = crate::cases::read(&path);
        for fires in &cases.fires {
            for finding in findings(rule, &fires.case) {
                let told = severities(rule).any(|severity| severity == finding.severity);
                assert!(told, "{} is said to vary: {finding:?}", rule.id);
            }
            if let Some(difference) = difference(rule, fires) {
                let _ = writeln!(failures, "{} ({}): {difference}", rule.id, fires.case.about);
            }
        }
        for near in &cases.near {
            for finding in findings(rule, near) {
                let about = &near.about;
                let _ = writeln!(failures, "{} (near: {about}): {finding:?}", rule.id);
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn every_rule_has_cases_in_the_folder_of_its_family() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trace/rules");
    let found: BTreeSet<_> = crate::cases::files(FOLDER).into_iter().collect();
    let mut expected = BTreeSet::new();
    for family in families() {
        for rule in &family.rules {
            let file = format!("{}/{}.toml", family.name.to_lowercase(), rule.id);
            expected.insert(folder.join(file));
        }
    }
    let missing: Vec<_> = expected.difference(&found).collect();
    let stray: Vec<_> = found.difference(&expected).collect();
    assert!(missing.is_empty(), "rules without a case: {missing:#?}");
    assert!(stray.is_empty(), "cases without a rule: {stray:#?}");
    for path in &found {
        let cases: Cases = crate::cases::read(path);
        let whole = !cases.fires.is_empty() && !cases.near.is_empty();
        assert!(whole, "{} needs both kinds", path.display());
        let told = cases.fires.iter().all(|fires| !fires.at.is_empty());
        assert!(told, "{} fires nothing", path.display());
    }
}

#[test]
fn every_rule_says_why_it_matters_and_what_to_do() {
    for family in families() {
        for rule in &family.rules {
            let id = rule.id;
            let is_sentence = |text: &str| text.ends_with('.') && text.len() > 20;
            assert!(is_sentence(rule.why), "{id}: why {:?}", rule.why);
            assert!(is_sentence(rule.fix), "{id}: fix {:?}", rule.fix);
            assert!(!rule.summary.ends_with('.'), "{id}: {}", rule.summary);
            assert!(rule.revisions.iter().next().is_some(), "{id}: no revision");
        }
    }
}

fn difference(rule: &'static Rule, fires: &Fires) -> Option<String> {
    let before = fires.case.start.frames();
    let found = findings(rule, &fires.case);
    let place = |finding: &Finding| match finding.frame {
        None => 0,
        Some(seq) if seq.0 > before => i64::try_from(seq.0 - before).unwrap(),
        Some(_) => -1,
    };
    let mut places: Vec<_> = found.iter().map(place).collect();
    places.sort_unstable();
    if places != fires.at {
        return Some(format!(
            "found at {places:?}, expected {:?}: {found:?}",
            fires.at
        ));
    }
    let severity = fires.severity.as_deref().unwrap_or(rule.severity.as_str());
    if found
        .iter()
        .any(|finding| finding.severity.as_str() != severity)
    {
        return Some(format!("expected {severity}: {found:?}"));
    }
    let first = found.first()?;
    if fires.path.is_some() && first.path.as_deref() != fires.path.as_deref() {
        return Some(format!("path {:?}, expected {:?}", first.path, fires.path));
    }
    let says = fires.says.as_deref().unwrap_or_default();
    (!first.detail.contains(says)).then(|| format!("{:?} lacks {says:?}", first.detail))
}

/// How bad the rule says that its findings are.
fn severities(rule: &Rule) -> impl Iterator<Item = Severity> {
    let milder = rule::milder(rule).into_iter();
    milder.map(|(severity, _)| severity).chain([rule.severity])
}

/// The findings of `rule` alone.
fn findings(rule: &'static Rule, case: &Case) -> Vec<Finding> {
    if let Some(http) = &case.http {
        let dir = tempfile::tempdir().unwrap();
        let found = wire::told(dir.path(), http).findings(0).unwrap();
        let found = found.into_iter().filter(|row| &*row.rule == rule.id);
        let finding = |row: FindingRow| Finding {
            severity: row.severity.parse().unwrap(),
            frame: row.frame,
            exchange: row.exchange,
            path: row.path,
            ..rule.at(Seq(0), row.detail)
        };
        return found.map(finding).collect();
    }
    let mut telling = Telling::default();
    for row in case.start.rows() {
        telling.row(&row);
    }
    for row in &case.record {
        telling.row(&case.start.completed(row));
    }
    let mut findings = telling.end(case.live).findings;
    findings.retain(|finding| finding.rule == rule);
    findings
}

fn rule_of(path: &Path) -> &'static Rule {
    let id = path.file_stem().unwrap().to_str().unwrap();
    rule(id).unwrap_or_else(|| panic!("{}: there is no such rule", path.display()))
}
