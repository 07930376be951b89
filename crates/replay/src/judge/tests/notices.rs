//! Notifications that came on both sides.

use super::*;
use crate::rules::Side;

fn notices(judge: &Judge, side: Side, messages: &[&str]) -> Notices {
    let mut notices = Notices::default();
    for (message, at) in messages.iter().zip(1..) {
        judge.notice(
            &mut notices,
            side,
            Some(Seq(at)),
            message.as_bytes(),
            Some(NOW),
        );
    }
    notices
}

const CHANGED: &str = r#"{"method":"notifications/tools/list_changed"}"#;
const UPDATED: &str =
    r#"{"method":"notifications/resources/updated","params":{"uri":"file:///tmp/tmpk3jd9x"}}"#;
const UPDATED_TOO: &str =
    r#"{"method":"notifications/resources/updated","params":{"uri":"file:///tmp/tmp8fa0b1"}}"#;
const ELSEWHERE: &str = r#"{"method":"notifications/resources/updated","params":{"uri":"x:y"}}"#;
const LOG: &str = r#"{"method":"notifications/message","params":{"level":"info","data":"x"}}"#;
const PROGRESS: &str = r#"{"method":"notifications/progress","params":{"progressToken":1}}"#;

/// `CLASS METHOD TEXT`, one for each.
fn noticed(options: Options, left: &[&str], right: &[&str]) -> Vec<String> {
    let mut judge = Judge::new(Rules::default(), options);
    let left = notices(&judge, Side::Left, left);
    let right = notices(&judge, Side::Right, right);
    judge.notices(&left, &right);
    let report = judge.finish();
    let line = |account: &Account| {
        let Outcome::Remark(remark) = &account.outcome else {
            panic!("{account:?}");
        };
        format!(
            "{} {} {}",
            remark.class.as_str(),
            remark.method,
            remark.text
        )
    };
    report.accounts.iter().map(line).collect()
}

#[test]
fn notifications_are_compared_without_their_order() {
    let usual = Options::default;
    assert_eq!(
        noticed(
            usual(),
            &[CHANGED, UPDATED, ELSEWHERE],
            &[ELSEWHERE, UPDATED_TOO, CHANGED]
        ),
        [""; 0]
    );
    assert_eq!(
        noticed(
            usual(),
            &[CHANGED, CHANGED, UPDATED],
            &[CHANGED, PROGRESS, LOG, "no JSON"]
        ),
        [
            "changed notifications/tools/list_changed came once, was twice",
            "changed notifications/resources/updated came once, and does no more",
        ]
    );
    assert_eq!(
        noticed(usual(), &[], &[UPDATED, UPDATED_TOO, UPDATED]),
        ["added notifications/resources/updated comes 3 times, and did not before"]
    );
    let strict = Options {
        strict_logs: true,
        ..Options::default()
    };
    assert_eq!(
        noticed(strict, &[LOG], &[]),
        ["changed notifications/message came once, and does no more"]
    );
}
