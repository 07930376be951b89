//! Which tools are called as a task (Tasks, Tool-level negotiation).

use super::rules;
use crate::finding::Findings;
use crate::quote;
use crate::remembered::Remembered;
use crate::seen::Part;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::{Body, Direction};
use std::sync::Arc;

/// Tools that are remembered. Of others nothing is said.
const TOOLS: usize = 4096;
/// Bytes of a name that is remembered. Together with [`TOOLS`] it bounds the memory.
const NAME: usize = 256;

/// The tools of the server, and whether they can be called as a task.
#[derive(Debug)]
pub(super) struct Augmentation {
    tools: Remembered<Arc<str>, Support>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Support {
    Forbidden,
    Optional,
    Required,
}

impl Default for Augmentation {
    fn default() -> Self {
        Self {
            tools: Remembered::new(TOOLS),
        }
    }
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
    pub fn call(&mut self, part: &Part<'_>, findings: &mut Findings) {
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
        let finding = part.at(&rules::TASK_AUGMENTATION, detail);
        findings.push(finding.path(if request.task {
            "params.task"
        } else {
            "params"
        }));
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
