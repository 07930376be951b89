//! The life of tasks (Tasks, and the extension of the same name).
//!
//! ```text
//!  created ─▶ working ◀─▶ input_required
//!                └────────────┴──▶ completed, failed, cancelled: nothing after that
//! ```

use super::{RELATED_TASK_MISSING, TASK_STATUS_TRANSITION, listed, short_text};
use crate::{Part, quote};
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::{Revision, TaskStatus};
use mcpreel_wire::message::{Body, Direction};
use std::sync::Arc;

/// Tasks that are remembered, and looked at in one list. Of older ones nothing is said.
const TASKS: usize = 1024;

/// Bytes of an id that are remembered. Together with [`TASKS`] it bounds the memory.
const TEXT: usize = 512;

/// Tasks, by who asks for them and their id.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    latest: BoundedMap<(Direction, Arc<str>), Latest, TASKS>,
    /// The tasks that requests were made, until progress without the name of the task was told.
    made: BoundedMap<ExchangeId, Arc<str>, TASKS>,
}

/// The latest that is known of a task.
#[derive(Clone, Debug)]
struct Latest {
    frame: Seq,
    status: TaskStatus,
    updated: Option<Box<str>>,
}

impl Tasks {
    pub fn part(&mut self, part: &Part<'_>, method: &str) {
        match (&part.message.body, method) {
            (Body::Notification(_), "notifications/progress") => self.progress(part),
            (Body::Notification(_), "notifications/tasks/status" | "notifications/tasks") => {
                self.state(part, part.params(), false);
            }
            (Body::Response(_), "tasks/get" | "tasks/cancel") => {
                self.state(part, part.result(), false);
            }
            (Body::Response(_), "tasks/list") => {
                for task in listed(part, "tasks", TASKS) {
                    self.state(part, Some(task), false);
                }
            }
            (Body::Response(_), "tasks/result") => outcome(part),
            (Body::Response(_), _) => self.created(part),
            _ => {}
        }
    }

    /// The answer to a request that may have been made a task.
    fn created(&mut self, part: &Part<'_>) {
        let (Some(result), Some(asked)) = (part.result(), part.request()) else {
            return;
        };
        let kind = result.get("resultType");
        let is_task = match asked.revision {
            Revision::V2025_11_25 => asked.task,
            later => later > Revision::V2025_11_25 && kind.is_some_and(|it| it.is_str("task")),
        };
        if is_task {
            let task = result.get("task").unwrap_or(result);
            self.state(part, Some(task), true);
            let id = short_text(task, "taskId", TEXT);
            if let Some((exchange, id)) = part.exchange().zip(id) {
                self.made.insert(exchange, (&*id).into());
            }
        }
    }

    /// A state of a task.
    fn state(&mut self, part: &Part<'_>, task: Option<Value<'_>>, is_new: bool) {
        let Some(task) = task else { return };
        let (Some(id), Some(status)) = (short_text(task, "taskId", TEXT), TaskStatus::of(task))
        else {
            return;
        };
        let key = (part.direction().reverse(), Arc::from(&*id));
        let shown = format!("task \"{}\"", quote::text(&id));
        let updated = short_text(task, "lastUpdatedAt", TEXT).map(|it| Box::from(&*it));
        let before = self.latest.get(&key).filter(|_| !is_new);
        // A notification can overtake an answer. Times of one server are written alike.
        if updated.is_some() && before.is_some_and(|before| updated < before.updated) {
            return;
        }
        match before {
            Some(before) if before.status.is_over() && before.status != status => {
                let (from, to) = (before.status.as_str(), status.as_str());
                let detail = format!("{shown} went from {from} to {to}");
                part.push(part.at(&TASK_STATUS_TRANSITION, detail).and(before.frame));
            }
            None if is_new && status != TaskStatus::Working && is_core(part) => {
                let detail = format!("{shown} begins as {}", status.as_str());
                part.tell(&TASK_STATUS_TRANSITION, detail);
            }
            _ => {}
        }
        let latest = Latest {
            frame: part.seen.head.seq,
            status,
            updated,
        };
        self.latest.insert(key, latest);
    }

    /// Progress of a task, once per task.
    fn progress(&mut self, part: &Part<'_>) {
        let is_named = part.message.meta.related_task.is_some() || !is_core(part);
        let exchange = part.exchange().filter(|_| !is_named);
        if let Some(task) = exchange.and_then(|exchange| self.made.remove(&exchange)) {
            let detail = format!("progress of the task \"{}\"", quote::text(&task));
            part.tell_at(&RELATED_TASK_MISSING, "params._meta", detail);
        }
    }
}

/// The outcome of a task has to say which task.
fn outcome(part: &Part<'_>) {
    let is_result = part.result().is_some_and(|result| result.is_object());
    let asked = part.request().and_then(|asked| asked.name.as_deref());
    let Some(asked) = asked.filter(|_| is_result) else {
        return;
    };
    let mut detail = format!("the result of the task \"{}\"", quote::text(asked));
    match part.message.meta.related_task.as_deref() {
        Some(named) if named == asked => return,
        Some(named) => detail = format!("{detail} names \"{}\"", quote::text(named)),
        None => {}
    }
    part.tell_at(&RELATED_TASK_MISSING, "result._meta", detail);
}

/// Whether the revision has tasks in its core; the extension that came after says less.
fn is_core(part: &Part<'_>) -> bool {
    part.revision() == Revision::V2025_11_25
}
