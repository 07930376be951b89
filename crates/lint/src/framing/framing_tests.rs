//! What hostile lines can make of the findings and of the memory.

use super::Misframed;
use crate::finding::{Finding, Findings};
use crate::lint_tests::all_findings;
use crate::{Context, FrameContext, SessionFacts};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::Correlator;
use mcpreel_trace::frame::{Carried, FrameHead, Seq, StreamId};
use mcpreel_trace::session::Session;
use mcpreel_wire::message::{Classifier, Lines};

fn head(seq: u64, raw: &[u8]) -> FrameHead {
    FrameHead {
        seq: Seq(seq),
        stream: StreamId::S2C,
        offset: 0,
        t_first: Moment(seq),
        t_last: Moment(seq),
        size: raw.len() as u64,
        carried: Carried::default(),
    }
}

/// The findings of one rule in one line of the server.
fn of(rule: &str, line: &str) -> Vec<Finding> {
    let mut findings = all_findings(&[(StreamId::S2C, format!("{line}\n"))]);
    findings.retain(|finding| finding.rule.id == rule);
    findings
}

#[test]
fn a_frame_full_of_the_same_has_a_few_findings_that_say_how_many_more() {
    let tools = vec![r#"{"title":"\u200b","max":1e999,"a":0,"a":0,"b":"\ud800"}"#; 1000].join(",");
    let line = format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"tools":[{tools}]}}}}"#);
    for rule in [
        "text-hidden-unicode",
        "frame-number-precision",
        "frame-duplicate-key",
        "frame-lone-surrogate",
    ] {
        let found = of(rule, &line);
        assert_eq!(found.len(), 4, "{rule}");
        assert!(
            found[3].detail.ends_with("and 996 more in this frame"),
            "{rule}"
        );
        let path = found[1].path.as_deref().unwrap();
        assert!(path.starts_with("params.tools[1]."), "{path}");
    }
}

#[test]
fn an_open_bracket_does_not_keep_the_session_in_memory() {
    let mut misframed = Misframed::default();
    let (session, known) = (Session::default(), SessionFacts::default());
    let correlator = Correlator::default();
    let mut classifier = Classifier::default();
    let mut findings = Vec::new();
    for seq in 1..2000 {
        let line = format!("{{ {}\n", "x".repeat(1000));
        let raw = line.trim_start_matches(if seq == 1 { "" } else { "{ " });
        let (content, root) = classifier.read(raw.as_bytes(), Lines::OfAll);
        let head = head(seq, raw.as_bytes());
        let seen = FrameContext {
            head: &head,
            raw: raw.as_bytes(),
            content: &content,
            root,
            messages: &[],
            observations: &[],
            http: None,
            context: Context {
                now: Moment(seq),
                session: &session,
                known: &known,
                correlator: &correlator,
                findings: &Findings::default(),
            },
        };
        let mut found = vec![super::NOT_JSON.at(Seq(seq), "x")];
        misframed.apply(&seen, &mut found);
        findings.append(&mut found);
        assert!(misframed.kept().0 <= 300 << 10, "{seq}");
    }
    assert_eq!(misframed.kept(), (0, 0));
    let told = findings.iter().map(|finding| finding.frame);
    assert!(
        told.eq((1..2000).map(|seq| Some(Seq(seq)))),
        "all of it, in order"
    );
}
