//! How far a task has come depends on when somebody asks: what is compared of such an answer.
//!
//! | then | now | compared |
//! |---|---|---|
//! | at work | at work | all but what it says of its work |
//! | at work | needs input | nothing |
//! | at work, or asking again for what it has | is over | nothing now: a later answer says whether it ended as it did then |
//! | anything else | | all of it |

use super::Class;
use super::diff_report::Remark;
use super::exchanges::{Draft, Judge, Occurrence};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Value, canonical};
use mcpreel_wire::mcp::TaskStatus;
use mcpreel_wire::text::escape;
use std::collections::{BTreeMap, BTreeSet};

/// Tasks that are remembered.
const MOST: usize = 65_536;

const POLL: &str = "tasks/get";
const LIST: &str = "tasks/list";

type Elsewhere = &'static [&'static [&'static str]];

const MESSAGE: Elsewhere = &[&["result", "statusMessage"]];

/// How far the tasks of a list have come.
const LISTED: Elsewhere = &[
    &["result", "tasks", "status"],
    &["result", "tasks", "statusMessage"],
];

/// The tasks of both sides, by their ids on the left.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// Those that were over on the right, and were not on the left when that was last asked.
    early: BTreeMap<Box<str>, (Option<Seq>, TaskStatus)>,
    /// Those that needed input on both sides.
    asked: BTreeSet<Box<str>>,
}

/// Whether the answer to a request of this method is that a task is at work.
pub(super) fn is_at_work(method: &str, answer: Option<&[u8]>) -> bool {
    status(method, answer) == Some(TaskStatus::Working)
}

/// Which values of two answers are not to be compared, because they depend on when was asked;
/// `None`: all of them.
pub(super) fn elsewhere(
    judge: &mut Judge,
    left: &Occurrence<'_>,
    right: &Occurrence<'_>,
    draft: &mut Draft,
) -> Option<Elsewhere> {
    if !left.method.starts_with("tasks/") {
        return Some(&[]);
    }
    if left.method == LIST {
        return Some(listed(left, right, draft));
    }
    let task = left.name.unwrap_or_default();
    // Whatever is answered about it says how it stands.
    judge.tasks.early.remove(task);
    let both = [left, right].map(|side| status(side.method, side.response));
    let [Some(then), Some(now)] = both else {
        return Some(&[]);
    };
    let elsewhere = judge.tasks.both(task, left.seq, [then, now]);
    if elsewhere.is_none() {
        let note = format!("{} instead of {}", now.as_str(), then.as_str());
        draft.push(Class::Noise, &note);
    }
    if elsewhere == Some(MESSAGE) && message(left) != message(right) {
        draft.push(Class::Noise, "it says something else of its work");
    }
    elsewhere
}

impl Tasks {
    /// How a task stands on both sides.
    fn both(
        &mut self,
        task: &str,
        seq: Option<Seq>,
        [then, now]: [TaskStatus; 2],
    ) -> Option<Elsewhere> {
        use TaskStatus::{InputRequired, Working};
        let is_early = match then {
            Working => now.is_over(),
            _ => !then.is_over() && now.is_over() && self.asked.contains(task),
        };
        if is_early && self.early.len() < MOST {
            self.early.insert(task.into(), (seq, now));
            return None;
        }
        if [then, now] == [InputRequired; 2] && self.asked.len() < MOST {
            self.asked.insert(task.into());
        }
        match [then, now] {
            [Working, InputRequired] => None,
            [Working, Working] => Some(MESSAGE),
            _ => Some(&[]),
        }
    }
}

/// Tells tasks that are over on the right, and of which the left side never says that they are.
pub(super) fn finish(judge: &mut Judge) {
    for (task, (left, status)) in std::mem::take(&mut judge.tasks.early) {
        let text = format!("the task is {} now, and never was then", status.as_str());
        judge.remark(Remark {
            left,
            right: None,
            method: POLL.into(),
            name: Some(escape(&task).into()),
            class: Class::Changed,
            text: text.into(),
            trouble: None,
        });
    }
}

/// Two lists of tasks. Where one of them is not over, how far they are says nothing about the
/// server.
fn listed(left: &Occurrence<'_>, right: &Occurrence<'_>, draft: &mut Draft) -> Elsewhere {
    let statuses = |list: Value<'_>| {
        let tasks = list.get("tasks")?;
        Some(tasks.elements().map(TaskStatus::of).collect::<Vec<_>>())
    };
    let all = [left, right].map(|side| read(side.response, statuses).unwrap_or_default());
    let is_open = |status: &Option<TaskStatus>| status.is_some_and(|status| !status.is_over());
    if !all.iter().flatten().any(is_open) {
        return &[];
    }
    if all[0] != all[1] {
        draft.push(Class::Noise, "tasks have come farther, or less far");
    }
    LISTED
}

/// How far the task has come, where that was asked.
fn status(method: &str, answer: Option<&[u8]>) -> Option<TaskStatus> {
    let is_poll = method == POLL;
    is_poll.then(|| read(answer, TaskStatus::of)).flatten()
}

fn message(one: &Occurrence<'_>) -> Option<String> {
    read(one.response, |task| {
        task.get("statusMessage").map(canonical)
    })
}

/// What the result in an answer says.
fn read<T>(answer: Option<&[u8]>, what: impl FnOnce(Value<'_>) -> Option<T>) -> Option<T> {
    let document = Document::parse(answer?).ok()?;
    what(document.root().get("result")?)
}
