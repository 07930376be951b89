use super::*;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::message::{Classifier, Content, Lines};
use std::collections::BTreeSet;

/// Whether it is found by looking at a line alone.
fn is_of_line(finding: &Finding) -> bool {
    let families = families().into_iter();
    let mut of_lines = families.filter(|one| matches!(one.name(), "framing" | "JSON-RPC"));
    of_lines.any(|family| family.rules().contains(&finding.rule))
}

/// The head of a frame that came at `t`.
pub(crate) fn head(seq: u64, stream: StreamId, t: Moment, raw: &[u8]) -> FrameHead {
    FrameHead {
        seq: Seq(seq),
        stream,
        offset: 0,
        t_first: t,
        t_last: t,
        size: raw.len() as u64,
    }
}

/// Gives a frame to both.
pub(crate) fn tell(analysis: &mut Analysis, linter: &mut Linter, head: &FrameHead, raw: &[u8]) {
    let mut classifier = Classifier::default();
    let (content, root) = match head.stream.messages() {
        Some(_) => classifier.read(raw, Lines::OfAll),
        None => (Content::default(), None),
    };
    analysis.frame(head, &content);
    linter.frame(analysis, head, raw, &content, root);
}

/// The findings of all rules in these lines, one after the other.
pub(crate) fn all_findings<L: AsRef<[u8]>>(lines: &[(StreamId, L)]) -> Vec<Finding> {
    let (mut analysis, mut linter) = (Analysis::default(), Linter::default());
    for (seq, (stream, raw)) in (1..).zip(lines) {
        let raw = raw.as_ref();
        let head = head(seq, *stream, Moment(seq), raw);
        tell(&mut analysis, &mut linter, &head, raw);
    }
    linter.take()
}

/// The findings in these lines that are about a line alone.
fn findings(lines: &[(StreamId, &[u8])]) -> Vec<Finding> {
    let mut findings = all_findings(lines);
    findings.retain(is_of_line);
    findings
}

/// What is found in the line itself; that it comes before the handshake is told as well.
fn of_server(raw: &[u8]) -> Vec<(&'static str, String)> {
    let mut findings = findings(&[(StreamId::S2C, raw)]);
    let families = ["frame-", "batch-", "rpc-"];
    findings.retain(|finding| families.iter().any(|of| finding.rule.id.starts_with(of)));
    let pair = |finding: Finding| (finding.rule.id, finding.detail);
    findings.into_iter().map(pair).collect()
}

#[test]
fn every_rule_has_an_id_of_its_own_and_a_summary() {
    let catalogue = catalogue();
    let ids: BTreeSet<_> = catalogue.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), catalogue.len());
    for rule in catalogue {
        let kebab = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(rule.id.bytes().all(kebab), "{}", rule.id);
        assert!(!rule.summary.is_empty(), "{}", rule.id);
        assert_eq!(super::rule(rule.id), Some(*rule));
    }
}

#[test]
fn a_log_line_on_stdout_is_shown_with_its_bytes_escaped() {
    let found = of_server(b"\x1b[31m[INFO]\x1b[0m listening\xe2\x80\xae\n");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "frame-not-json");
    let shown = r"\u{1b}[31m[INFO]\u{1b}[0m listening\u{202e}";
    assert!(found[0].1.ends_with(shown), "{}", found[0].1);
}

#[test]
fn every_problem_of_a_line_is_a_finding() {
    let cases: [(&[u8], &[&str]); 11] = [
        (b"\n", &["frame-blank-line"]),
        (b"  \r\n", &["frame-crlf", "frame-blank-line"]),
        (b"null\n", &["frame-not-object"]),
        (b"[]\n", &["batch-empty"]),
        (b"{\"jsonrpc\":\"2.0\",\"id\":3,\"res", &["frame-truncated"]),
        (
            b"{\"jsonrpc\":\"2.0\",\"method\":\"x\"}",
            &["frame-truncated"],
        ),
        (
            b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\r\n",
            &["frame-bom", "frame-crlf"],
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"method\":\"y\"}\n",
            &["frame-duplicate-key"],
        ),
        (
            b"{\"jsonrpc\":\"1.0\",\"method\":\"x\"}\n",
            &["rpc-version"],
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":4}\n",
            &["rpc-method-not-string"],
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":[]}\n",
            &["rpc-params-not-object"],
        ),
    ];
    for (raw, expected) in cases {
        let found: Vec<_> = of_server(raw).into_iter().map(|(rule, _)| rule).collect();
        assert_eq!(found, expected, "{}", quote::bytes(raw));
    }
}

#[test]
fn invalid_utf8_is_pointed_at() {
    let found = of_server(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xc3\x28\"}\n");
    let detail = found.iter().find(|(rule, _)| *rule == "frame-invalid-utf8");
    assert_eq!(
        detail.map(|(_, detail)| &**detail),
        Some("byte 27: \\xc3(\"}")
    );
}

#[test]
fn deep_nesting_is_told_with_its_limit() {
    let (open, close) = ("[".repeat(20_000), "]".repeat(20_000));
    let deep =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{{\"a\":{open}{close}}}}}\n");
    let found = of_server(deep.as_bytes());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "frame-deep-nesting");
}

#[test]
fn a_finding_of_a_message_names_its_exchange_and_cannot_hide_anything() {
    let line = b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"a\\u001b[2Jb\"}\n";
    let found = findings(&[(StreamId::C2S, line)]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].exchange.map(|id| id.0), Some(1));
    let shown = r#"request a\u{1b}[2Jb, id 1: it says "1.0""#;
    assert_eq!(found[0].detail, shown);
}

#[test]
fn stderr_is_not_looked_at() {
    assert_eq!(findings(&[(StreamId::STDERR, b"hello\r\n")]), []);
}

#[test]
fn an_early_revision_is_only_warned_of_batches() {
    let hello = |version: &str| {
        let ask = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
        );
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{version}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        );
        let batch = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
        let lines = [ask, answer, batch.to_owned()].map(|line| line + "\n");
        findings(&[
            (StreamId::C2S, lines[0].as_bytes()),
            (StreamId::S2C, lines[1].as_bytes()),
            (StreamId::C2S, lines[2].as_bytes()),
        ])
    };
    let severity = |version| hello(version).first().map(|finding| finding.severity);
    assert_eq!(severity("2024-11-05"), Some(Severity::Warning));
    assert_eq!(severity("2025-03-26"), None);
    assert_eq!(severity("2025-04-01"), None, "judged by 2025-03-26");
    assert_eq!(severity("2025-11-25"), Some(Severity::Error));
    assert_eq!(severity("2026-07-28"), Some(Severity::Error));
}

static OF_MODERN: Rule = Rule::error("of-modern", "of the modern era").only(Revisions::MODERN);

/// Finds something whenever it is asked, and does not care by which revision.
struct Careless;

impl Family for Careless {
    fn name(&self) -> &'static str {
        "careless"
    }

    fn rules(&self) -> Vec<&'static Rule> {
        Vec::new()
    }

    fn passed(&mut self, _: &Context<'_>, findings: &mut Findings) {
        findings.push(OF_MODERN.found("time has passed"));
    }

    fn frame(&mut self, seen: &FrameContext<'_>, findings: &mut Findings) {
        findings.push(OF_MODERN.at(seen.head.seq, "a frame"));
    }

    fn stderr(&mut self, head: &FrameHead, _: &[u8], _: &Context<'_>, findings: &mut Findings) {
        findings.push(OF_MODERN.at(head.seq, "stderr"));
    }

    fn event(&mut self, _: &Event, _: &Context<'_>, findings: &mut Findings) {
        findings.push(OF_MODERN.found("an event"));
    }

    fn finish(&mut self, _: &[Observation], _: &Context<'_>, findings: &mut Findings) {
        findings.push(OF_MODERN.found("the end"));
    }
}

#[test]
fn a_rule_is_found_in_its_revisions_only_whenever_its_family_finds_it() {
    let found = |is_modern: bool| {
        let (mut analysis, mut linter) = (Analysis::default(), Linter::default());
        linter.known.knows_modern = is_modern;
        linter.rules.families = vec![Box::new(Careless)];
        let event = Event {
            t: Moment(1),
            after_seq: Seq(0),
            kind: mcpreel_trace::event::EventKind::Recovered { frames: 0 },
        };
        linter.event(&analysis, &event);
        let line = head(1, StreamId::STDERR, Moment(1), b"\n");
        tell(&mut analysis, &mut linter, &line, b"\n");
        linter.finish(&analysis);
        let findings = linter.take();
        let details = findings.into_iter().map(|finding| finding.detail);
        details.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(found(false), "");
    assert_eq!(
        found(true),
        "time has passed, an event, time has passed, stderr, time has passed, the end"
    );
}
