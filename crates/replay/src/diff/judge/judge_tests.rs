use super::*;

/// A side of a call: its params and what follows the id in its answer.
#[derive(Clone, Copy)]
struct Told<'t>(&'t str, Option<&'t str>, Status);

/// What is said of two sides of a call: `PATH CLASS NOTE`, one for each difference.
fn judged(left: Told<'_>, right: Told<'_>) -> (Report, Vec<String>) {
    let mut judge = Judge::default();
    let texts = [left, right].map(|Told(params, answer, _)| {
        let request = format!(r#"{{"id":7,"method":"tools/call","params":{params}}}"#);
        (
            request,
            answer.map(|answer| format!(r#"{{"id":7,{answer}}}"#)),
        )
    });
    let sides = [0, 1].map(|at| Occurrence {
        request: Some(texts[at].0.as_bytes()),
        response: texts[at].1.as_deref().map(str::as_bytes),
        status: [left, right][at].2,
        ..occurrence("tools/call")
    });
    judge.compare(&sides[0], &sides[1]);
    let report = judge.finish();
    let all = report
        .accounts
        .iter()
        .flat_map(|account| &account.differences);
    let lines = all.map(|one| {
        let note = one.note.as_deref().unwrap_or("–");
        format!("{} {} {note}", one.path, one.class.as_str())
    });
    let lines = lines.collect();
    (report, lines)
}

fn occurrence(method: &str) -> Occurrence<'_> {
    Occurrence {
        seq: Some(Seq(1)),
        method,
        name: None,
        request: None,
        response: None,
        size: None,
        status: Status::Ok,
        latency_ns: Some(1_000_000),
        cancelled_after_ns: None,
        wall_ns: None,
    }
}

#[test]
fn what_was_cancelled_may_be_answered_or_not() {
    let ok = Told("{}", Some(r#""result":{}"#), Status::Ok);
    for (status, said) in [
        (Status::Cancelled, &[][..]),
        (Status::Late, &[]),
        (Status::Lost, &[" breaking no answer any more"]),
    ] {
        assert_eq!(judged(ok, Told("{}", None, status)).1, said, "{status:?}");
    }
}

#[test]
fn nothing_in_a_request_is_breaking_and_what_a_client_says_of_itself_is_noise() {
    let left = r#"{"name":"a","arguments":{"q":1,"r":2},"_meta":{"client":"x","y":1}}"#;
    let right = r#"{"name":"a","arguments":{"q":"1"},"_meta":{"client":"z"}}"#;
    let [left, right] = [left, right].map(|params| Told(params, None, Status::Lost));
    let said = [
        "params.arguments.q changed –",
        "params.arguments.r changed –",
        "params._meta.client noise –",
        "params._meta.y noise –",
    ];
    assert_eq!(judged(left, right).1, said);
}

/// The requests and answers of a list in `a b|c`: names, and where a page ends.
fn pages(list: &str) -> Vec<[String; 2]> {
    let ends = list.matches('|').count();
    let page = |(at, names): (usize, &str)| {
        let tools = names
            .split_whitespace()
            .map(|name| format!(r#"{{"name":"{name}"}}"#));
        let tools = tools.collect::<Vec<_>>().join(",");
        let cursor = |at, name| format!(r#""{name}":"c{at}of{ends}","#);
        let asked = if at > 0 {
            cursor(at, "cursor")
        } else {
            String::new()
        };
        let next = if at < ends {
            cursor(at + 1, "nextCursor")
        } else {
            String::new()
        };
        [
            format!(r#"{{"id":1,"params":{{{asked}"x":1}}}}"#),
            format!(r#"{{"id":1,"result":{{{next}"tools":[{tools}]}}}}"#),
        ]
    };
    list.split('|').enumerate().map(page).collect()
}

/// What is said of two lists that were asked for so often.
fn lists(left: &str, right: &str, times: usize) -> Vec<String> {
    let mut judge = Judge::default();
    let sides = [pages(left), pages(right)];
    for at in (0..times).flat_map(|_| 0..sides[0].len().max(sides[1].len())) {
        let both = sides.each_ref().map(|side| {
            side.get(at).map(|[request, answer]| Occurrence {
                request: Some(request.as_bytes()),
                response: Some(answer.as_bytes()),
                ..occurrence("tools/list")
            })
        });
        match both {
            [Some(left), Some(right)] => drop(judge.compare(&left, &right)),
            [Some(left), None] => drop(judge.missing(&left, Outcome::Removed)),
            [None, Some(right)] => drop(judge.extra(&right, Direction::ClientToServer)),
            [None, None] => {}
        }
    }
    let report = judge.finish();
    let is_noise = |account: &Account| account.class == Some(Class::Noise);
    assert!(report.accounts.iter().all(is_noise), "{left} {right}");
    let said = report.offers.iter().map(|offer| {
        let note = offer.difference.note.as_deref().unwrap_or_default();
        format!("{} {note} {}", offer.name, offer.times)
    });
    said.collect()
}

#[test]
fn a_list_is_one_however_it_is_cut_into_pages_and_often_asked_for() {
    let (whole, none) = ("a b c", [""; 0]);
    for cut in [whole, "a b|c", "a|b|c", "a|b c|"] {
        for (left, right) in [(whole, cut), (cut, whole), (cut, cut)] {
            assert_eq!(lists(left, right, 1), none, "{left} {right}");
        }
        assert_eq!(lists(cut, "a|c", 1), ["b is gone 1"], "{cut}");
    }
    assert_eq!(lists("a b", "a", 3), ["b is gone 3"]);
}

#[test]
fn hostile_answers_are_compared_within_bounds_and_it_is_told() {
    let answer = |result: &str| format!(r#""result":{result}"#);
    let between = |left: &str, right: &str| {
        let [left, right] = [left, right].map(answer);
        let [left, right] = [&left, &right].map(|it| Told("{}", Some(it), Status::Ok));
        judged(left, right)
    };
    let list = |value: u32| {
        let all: Vec<_> = (0..30_000).map(|at| format!("\"{at}\":{value}")).collect();
        format!("{{{}}}", all.join(","))
    };
    let (report, lines) = between(&list(1), &list(2));
    assert_eq!(lines.len(), MAX_DIFFERENCES);
    let all = report.counts.failing(Threshold(Some(Class::Noise)));
    assert_eq!(lines.len() as u64 + report.accounts[0].more, all);
    assert!(report.left_out.values > 19_000);
    assert_eq!(
        between(r#"{"a":1,"a":2}"#, r#"{"a":1}"#).1,
        ["result.a changed –"]
    );
    let (_, lines) = between("{\"\u{202e}\\u001b[31m\":1}", "{}");
    assert!(!lines[0].contains(['\u{202e}', '\u{1b}']), "{lines:?}");
    let mut judge = Judge::default();
    let of = |size| Occurrence {
        size: Some(size),
        response: Some(b""),
        ..occurrence("x/y")
    };
    assert_eq!(judge.compare(&of(1), &of(1)), None);
    assert_eq!(judge.compare(&of(1), &of(2)), Some(Class::Changed));
    assert_eq!(judge.finish().left_out.outlines, 2);
}
