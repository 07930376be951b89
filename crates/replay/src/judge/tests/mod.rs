//! Sides of an exchange in a few words, and what is said of two of them.

mod bounds;
mod exchanges;
mod lists;
mod notices;
mod properties;

use super::*;
use crate::report::Difference;

const NOW: u64 = 1_795_000_000_000_000_000;

/// A side of an exchange, in a few words.
#[derive(Clone)]
struct Told {
    method: &'static str,
    name: Option<&'static str>,
    request: String,
    response: Option<String>,
    status: Status,
    latency_ns: u64,
    progress: Progress,
    outline: Option<Digest>,
}

impl Told {
    fn occurrence(&self, seq: u64) -> Occurrence<'_> {
        Occurrence {
            seq: Some(Seq(seq)),
            method: self.method,
            name: self.name,
            request: Some(self.request.as_bytes()),
            response: self.response.as_deref().map(str::as_bytes),
            outline: self.outline,
            status: self.status,
            latency_ns: Some(self.latency_ns),
            wall_ns: Some(NOW),
            progress: Some(&self.progress),
        }
    }
}

fn answered(response: Option<String>) -> Told {
    Told {
        method: "tools/call",
        name: Some("a"),
        request: r#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#.into(),
        response,
        status: Status::Ok,
        latency_ns: 1_000_000,
        progress: Progress::default(),
        outline: None,
    }
}

fn result(result: &str) -> Told {
    answered(Some(format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#
    )))
}

fn page(method: &'static str, cursor: Option<&str>, result: &str) -> Told {
    let params = cursor.map_or_else(String::new, |cursor| format!(r#""cursor":"{cursor}""#));
    Told {
        method,
        name: None,
        request: format!(r#"{{"id":1,"method":"{method}","params":{{{params}}}}}"#),
        ..self::result(result)
    }
}

fn judged_by(rules: &str, options: Options, left: &Told, right: &Told) -> Report {
    let mut all = Rules::default();
    all.add(rules, std::path::Path::new("r"))
        .expect("the rules are right");
    let mut judge = Judge::new(all, options);
    let worst = judge.both(&left.occurrence(4), &right.occurrence(6));
    let report = judge.finish();
    assert_eq!(report.worst(), worst);
    report
}

fn judged(left: &Told, right: &Told) -> Report {
    judged_by("", Options::default(), left, right)
}

/// `PATH CLASS NOTE`, one for each difference.
fn lines(report: &Report) -> Vec<String> {
    let line = |difference: &Difference| {
        let Difference {
            path, class, note, ..
        } = difference;
        let note = note.as_deref().unwrap_or("–");
        format!("{path} {} {note}", class.as_str())
    };
    let accounts = report.accounts.iter();
    accounts
        .flat_map(|account| account.differences.iter().map(line))
        .collect()
}
