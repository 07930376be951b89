use super::*;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::frame::{Carried, FrameHead, Seq, StreamId};
use mcpreel_wire::message::{Classifier, Content, Lines};
use std::collections::BTreeSet;

/// The head of a frame that came at `t`.
pub(crate) fn head(seq: u64, stream: StreamId, t: Moment, raw: &[u8]) -> FrameHead {
    FrameHead {
        seq: Seq(seq),
        stream,
        offset: 0,
        t_first: t,
        t_last: t,
        size: raw.len() as u64,
        carried: Carried::default(),
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

static OF_MODERN: Rule = Rule::error("of-modern").only(Revisions::MODERN);

/// Finds something whenever it is asked, and does not care by which revision.
struct Careless;

impl Family for Careless {
    fn passed(&mut self, context: &Context<'_>) {
        context.findings.push(OF_MODERN.found("time has passed"));
    }

    fn frame(&mut self, seen: &FrameContext<'_>) {
        seen.findings.push(OF_MODERN.at(seen.head.seq, "a frame"));
    }

    fn stderr(&mut self, head: &FrameHead, _: &[u8], context: &Context<'_>) {
        context.findings.push(OF_MODERN.at(head.seq, "stderr"));
    }

    fn event(&mut self, _: &Event, context: &Context<'_>) {
        context.findings.push(OF_MODERN.found("an event"));
    }

    fn finish(&mut self, _: &[Observation], context: &Context<'_>) {
        context.findings.push(OF_MODERN.found("the end"));
    }
}

#[test]
fn a_rule_is_found_in_its_revisions_only_whenever_its_family_finds_it() {
    let found = |is_modern: bool| {
        let (mut analysis, mut linter) = (Analysis::default(), Linter::default());
        linter.known.knows_modern = is_modern;
        linter.families = vec![Box::new(Careless)];
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
