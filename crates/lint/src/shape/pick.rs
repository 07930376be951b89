//! Which shape a message should have.
//!
//! By its method, if that may be sent this way in this revision. The shape of a result depends on
//! more: a request that was made a task is answered by the task, `tasks/result` by what the task
//! was made of, and since 2026-07-28 a result says itself what it is.

use super::language::Shape;
use super::rules;
use super::tables::shapes;
use super::types::Type;
use crate::remembered::Remembered;
use crate::rule::Rule;
use crate::seen::Part;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::mcp::methods::{self, Kind};
use mcpreel_wire::message::{Body, Direction, Outcome};
use std::sync::Arc;

/// Tasks of which the method is remembered. The result of an older one is not looked at.
const TASKS: usize = 1024;

pub(super) struct Picked<'a> {
    pub member: &'static str,
    pub value: Option<Value<'a>>,
    pub base: Type,
    pub shape: Shape,
    /// What it is called if it is not.
    pub rule: &'static Rule,
}

/// The revision by which a message is judged. The answer to `initialize` is the first message of
/// the revision that it names, not of the one that was asked for.
pub(super) fn revision(part: &Part<'_>) -> Revision {
    let is_answer = matches!(part.message.body, Body::Response(_));
    if is_answer && part.method() == Some("initialize") {
        return part.seen.known.legacy();
    }
    part.revision()
}

/// The shape that a message should have; `None` where nothing is known about that, or the message
/// is of no use for a reason that somebody else tells.
pub(super) fn pick<'a>(part: &Part<'a>, revision: Revision, tasks: &Tasks) -> Option<Picked<'a>> {
    part.value?;
    match part.message.body {
        Body::Request(_) => params(part, revision, Kind::Request),
        Body::Notification(_) => params(part, revision, Kind::Notification),
        Body::Response(_) => result(part, revision, tasks),
        Body::Invalid => None,
    }
}

fn params<'a>(part: &Part<'a>, revision: Revision, kind: Kind) -> Option<Picked<'a>> {
    let method = part.method()?;
    let shape = shapes(revision).method(method)?.params;
    may_be_sent(method, kind, part.direction(), revision)?;
    let value = part.params();
    if value.is_some_and(|value| !value.is_object()) {
        return None;
    }
    let (base, rule) = match kind {
        Kind::Request => (Type::RequestParams, &rules::PARAMS_INVALID),
        Kind::Notification => (Type::NotificationParams, &rules::NOTIFICATION_INVALID),
    };
    Some(Picked {
        member: "params",
        value,
        base,
        shape,
        rule,
    })
}

fn result<'a>(part: &Part<'a>, revision: Revision, tasks: &Tasks) -> Option<Picked<'a>> {
    let method = &*part.asked()?.method;
    let value = part.result().filter(Value::is_object)?;
    may_be_sent(method, Kind::Request, part.direction().reverse(), revision)?;
    Some(Picked {
        member: "result",
        value: Some(value),
        base: Type::Result,
        shape: result_shape(part, revision, tasks, method, value)?,
        rule: &rules::RESULT_INVALID,
    })
}

fn result_shape(
    part: &Part<'_>,
    revision: Revision,
    tasks: &Tasks,
    method: &str,
    value: Value<'_>,
) -> Option<Shape> {
    let of = |method: &str| Some(shapes(revision).method(method)?.result);
    if revision >= Revision::V2026_07_28 {
        let kind = value.get("resultType").and_then(|kind| kind.as_str());
        return match kind.as_deref() {
            Some("complete") | None => of(method),
            Some("input_required") => Some(Shape::Of(Type::InputRequiredResult)),
            Some("task") => Some(Shape::Of(Type::CreateTaskResult)),
            Some(_) => Some(Shape::Any),
        };
    }
    let asked = part.asked()?;
    if asked.task && value.get("task").is_some() {
        return Some(Shape::Of(Type::CreateTaskResult));
    }
    if method == "tasks/result" {
        let made_of = tasks.method(asked.direction, asked.name.as_deref()?);
        return Some(made_of.and_then(of).unwrap_or(Shape::Any));
    }
    of(method)
}

/// Whether `method` is of this kind and goes this way in `revision`: if not, that is what is wrong
/// with it.
fn may_be_sent(method: &str, kind: Kind, way: Direction, revision: Revision) -> Option<()> {
    let method = methods::find(method).filter(|method| method.kind == kind)?;
    let usage = method.used_in(revision)?;
    usage.way.allows(way).then_some(())
}

/// Of which method tasks were made (2025-11-25).
#[derive(Debug)]
pub(super) struct Tasks {
    made_of: Remembered<(Direction, Arc<str>), &'static str>,
}

impl Default for Tasks {
    fn default() -> Self {
        Self {
            made_of: Remembered::new(TASKS),
        }
    }
}

impl Tasks {
    pub fn learn(&mut self, part: &Part<'_>) {
        let Body::Response(response) = &part.message.body else {
            return;
        };
        let Outcome::Task { id, .. } = &response.outcome else {
            return;
        };
        let Some(asked) = part.asked().filter(|asked| asked.task) else {
            return;
        };
        if let Some(method) = methods::find(&asked.method) {
            let key = (asked.direction, (&**id).into());
            self.made_of.insert(key, method.name);
        }
    }

    /// The method that the task `id` of who asks in `direction` was made of.
    fn method(&self, direction: Direction, id: &str) -> Option<&'static str> {
        self.made_of.get(&(direction, id.into())).copied()
    }
}
