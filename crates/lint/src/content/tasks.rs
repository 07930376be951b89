//! The life of tasks (Tasks, and the extension of the same name).
//!
//! ```text
//!  created ─▶ working ◀─▶ input_required
//!                └────────────┴──▶ completed, failed, cancelled: nothing after that
//! ```

use crate::{Finding, Part, quote};
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::{Revision, TaskStatus};
use mcpreel_wire::message::{Body, Direction};
use std::sync::Arc;

/// Tasks that are remembered. Of older ones nothing is said.
const TASKS: usize = 1024;
/// Bytes of an id or a time that are remembered. Together with [`TASKS`] it bounds the memory.
const TEXT: usize = 512;
/// Tasks in one list that are looked at.
const LISTED: usize = 1024;

/// Tasks, by who asks for them and their id.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    latest: BoundedMap<(Direction, Arc<str>), Latest, TASKS>,
    /// The tasks of requests that gave a progress token may have.
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
                let list = part.result().and_then(|result| result.get("tasks"));
                let tasks = list.into_iter().flat_map(|list| list.elements());
                for task in tasks.take(LISTED) {
                    self.state(part, Some(task), false);
                }
            }
            (Body::Response(_), "tasks/result") => result(part),
            (Body::Response(_), _) => self.created(part),
            _ => {}
        }
    }

    /// The answer to a request that may have been made a task.
    fn created(&mut self, part: &Part<'_>) {
        let Some(result) = part.result() else { return };
        let is_task = match part.request() {
            Some(asked) if asked.revision == Revision::V2025_11_25 => asked.task,
            Some(asked) if asked.revision > Revision::V2025_11_25 => {
                let kind = result.get("resultType");
                kind.is_some_and(|kind| kind.is_str("task"))
            }
            _ => false,
        };
        if is_task {
            let task = result.get("task").unwrap_or(result);
            self.state(part, Some(task), true);
            if let (Some(exchange), Some(id)) = (part.exchange(), id(task)) {
                self.made.insert(exchange, id);
            }
        }
    }

    /// What a message says about a task.
    fn state(&mut self, part: &Part<'_>, task: Option<Value<'_>>, is_new: bool) {
        let Some(task) = task else { return };
        let (Some(id), Some(status)) = (id(task), TaskStatus::of(task)) else {
            return;
        };
        let updated = text(task, "lastUpdatedAt");
        let key = (part.direction().reverse(), id);
        let before = self.latest.get(&key).filter(|_| !is_new);
        if before.is_some_and(|before| is_older(updated.as_deref(), before)) {
            return;
        }
        part.extend(match before {
            None if is_new => begun(part, &key.1, status),
            Some(before) => gone_on(part, &key.1, before, status),
            None => None,
        });
        let frame = part.seen.head.seq;
        let latest = Latest {
            frame,
            status,
            updated,
        };
        self.latest.insert(key, latest);
    }

    /// Progress of a task, once per task.
    fn progress(&mut self, part: &Part<'_>) {
        let Some(exchange) = part.exchange() else {
            return;
        };
        let Some(task) = self.made.get(&exchange) else {
            return;
        };
        if part.message.meta.related_task.is_none() && is_core(part) {
            let detail = format!("progress of the task \"{}\"", quote::text(task));
            part.tell_at(&super::RELATED_TASK_MISSING, "params._meta", detail);
            self.made.remove(&exchange);
        }
    }
}

/// That a task does not begin by working.
fn begun(part: &Part<'_>, task: &str, status: TaskStatus) -> Option<Finding> {
    (status != TaskStatus::Working && is_core(part)).then(|| {
        let (task, status) = (quote::text(task), status.as_str());
        let detail = format!("task \"{task}\" begins as {status}");
        part.at(&super::TASK_STATUS_TRANSITION, detail)
    })
}

/// That a task goes on that was over.
fn gone_on(part: &Part<'_>, task: &str, before: &Latest, status: TaskStatus) -> Option<Finding> {
    (before.status.is_over() && before.status != status).then(|| {
        let (from, to) = (before.status.as_str(), status.as_str());
        let detail = format!("task \"{}\" went from {from} to {to}", quote::text(task));
        let finding = part.at(&super::TASK_STATUS_TRANSITION, detail);
        finding.and(before.frame)
    })
}

/// What came of a task says which task.
fn result(part: &Part<'_>) {
    let Some(asked) = part.request().and_then(|asked| asked.name.as_deref()) else {
        return;
    };
    if !part.result().is_some_and(|result| result.is_object()) {
        return;
    }
    let asked_for = quote::text(asked);
    let detail = match part.message.meta.related_task.as_deref() {
        Some(named) if named == asked => return,
        Some(named) => format!(
            "the result of the task \"{asked_for}\" names \"{}\"",
            quote::text(named)
        ),
        None => format!("the result of the task \"{asked_for}\""),
    };
    part.tell_at(&super::RELATED_TASK_MISSING, "result._meta", detail);
}

/// Whether the revision has tasks in its core; the extension that came after says less.
fn is_core(part: &Part<'_>) -> bool {
    part.revision() == Revision::V2025_11_25
}

/// Whether what a message says about a task was true before what is known of it: answers can
/// overtake each other within a server. Times of one server are written alike.
fn is_older(updated: Option<&str>, known: &Latest) -> bool {
    match (updated, known.updated.as_deref()) {
        (Some(updated), Some(known)) => updated.len() == known.len() && updated < known,
        _ => false,
    }
}

fn id(task: Value<'_>) -> Option<Arc<str>> {
    text(task, "taskId").map(Into::into)
}

fn text(task: Value<'_>, member: &str) -> Option<Box<str>> {
    let value = task.get(member)?;
    let is_short = value.raw().len() <= TEXT;
    value.as_str().filter(|_| is_short).map(Into::into)
}

// Which tools are called as a task (Tasks, Tool-level negotiation).

/// Tools that are remembered. Of others nothing is said.
const TOOLS: usize = 4096;
/// Bytes of a name that is remembered. Together with [`TOOLS`] it bounds the memory.
const NAME: usize = 256;

/// The tools of the server, and whether they can be called as a task.
#[derive(Debug, Default)]
pub(super) struct Augmentation {
    tools: BoundedMap<Arc<str>, Support, TOOLS>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Support {
    Forbidden,
    Optional,
    Required,
}

impl Augmentation {
    pub fn list(&mut self, part: &Part<'_>) {
        if !has_tasks(part) || !matches!(part.message.body, Body::Response(_)) {
            return;
        }
        let tools = part.result().and_then(|result| result.get("tools"));
        for tool in tools
            .into_iter()
            .flat_map(|tools| tools.elements())
            .take(TOOLS)
        {
            if let Some(name) = tool.get("name").and_then(name) {
                self.tools.insert(name, support(tool));
            }
        }
    }

    /// The list has changed: what was in it may be true no more.
    pub fn changed(&mut self) {
        self.tools.clear();
    }

    /// The call of a tool, if it is one.
    pub fn call(&mut self, part: &Part<'_>) {
        let Body::Request(request) = &part.message.body else {
            return;
        };
        if part.direction() != Direction::ClientToServer || !has_tasks(part) {
            return;
        }
        let Some(name) = request.name.as_deref() else {
            return;
        };
        let shown = quote::text(name);
        let detail = match (self.tools.get(name), request.task) {
            (Some(Support::Forbidden), true) => {
                format!("the tool \"{shown}\" is not listed as one that can be a task")
            }
            (Some(Support::Required), false) => {
                format!("the tool \"{shown}\" is listed as one that has to be a task")
            }
            _ => return,
        };
        part.tell_at(
            &super::TASK_AUGMENTATION,
            if request.task {
                "params.task"
            } else {
                "params"
            },
            detail,
        );
    }
}

/// Whether the server takes calls of tools as tasks at all; if not, another rule says so.
fn has_tasks(part: &Part<'_>) -> bool {
    let declared = part.server_capabilities();
    declared.is_some_and(|declared| declared.has("tasks.requests.tools.call"))
}

fn support(tool: Value<'_>) -> Support {
    let execution = tool.get("execution");
    let support = execution.and_then(|execution| execution.get("taskSupport"));
    let is = |word: &str| support.is_some_and(|support| support.is_str(word));
    match (is("optional"), is("required")) {
        (true, _) => Support::Optional,
        (_, true) => Support::Required,
        // What is not said counts as forbidden.
        _ => Support::Forbidden,
    }
}

fn name(value: Value<'_>) -> Option<Arc<str>> {
    let is_short = value.raw().len() <= NAME;
    value
        .as_str()
        .filter(|_| is_short)
        .map(|name| (&*name).into())
}
