//! What params and results say beyond their shape: filled forms, conversations with tools, tasks,
//! arguments of prompts.
//!
//! * `asked`: what a server asks of its client, in either era;
//! * `elicitation`, `form`: forms, and what is filled into them;
//! * `sampling`: uses of tools and their results;
//! * `tasks`, `augmentation`: the life of tasks, and which tools are called as one;
//! * `prompts`: required arguments.

mod asked;
mod augmentation;
mod elicitation;
mod form;
mod prompts;
mod rules;
mod sampling;
mod tasks;

use super::family::Family;
use super::finding::Findings;
use super::rule::Rule;
use super::seen::{Part, Seen};
use augmentation::Augmentation;
use elicitation::Forms;
use prompts::Prompts;
use tasks::Tasks;

/// The family of these rules. What its parts remember is bounded by constants beside them.
#[derive(Debug, Default)]
pub struct Content {
    forms: Forms,
    tasks: Tasks,
    augmentation: Augmentation,
    prompts: Prompts,
}

impl Family for Content {
    fn name(&self) -> &'static str {
        "content"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::RULES
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        for part in seen.parts() {
            if part.value.is_some() {
                self.part(&part, findings);
            }
        }
    }
}

impl Content {
    fn part(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Some(method) = part.method() else { return };
        match method {
            "elicitation/create" | "sampling/createMessage" => {
                self.forms.part(part, findings);
                sampling::part(part, findings);
            }
            "resources/read" => self.forms.part(part, findings),
            "tools/call" => {
                self.forms.part(part, findings);
                sampling::part(part, findings);
                self.augmentation.call(part, findings);
            }
            "prompts/get" => {
                self.forms.part(part, findings);
                self.prompts.get(part, findings);
            }
            "tools/list" => self.augmentation.list(part),
            "notifications/tools/list_changed" => self.augmentation.changed(),
            "prompts/list" => self.prompts.list(part),
            "notifications/prompts/list_changed" => self.prompts.changed(),
            _ => {}
        }
        self.tasks.part(part, method, findings);
    }
}
