//! Rules about what flows between requests and responses: progress, the cancel of a task, pages of
//! lists, floods of notifications.
//!
//! * `progress`: tokens and values of progress, and when it comes;
//! * `tasks`: requests that a task has answered are not cancelled like others;
//! * `pages`: cursors, and walks from page to page;
//! * `flood`: how many notifications come within a second.

mod flood;
mod pages;
mod progress;
mod tasks;

use super::family::{Context, Family};
use super::finding::Findings;
use super::rule::Rule;
use super::seen::Seen;
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::event::{Event, EventKind};

#[derive(Debug, Default)]
pub struct Flow {
    progress: progress::Progress,
    tasks: tasks::Tasks,
    pages: pages::Pages,
    flood: flood::Flood,
}

impl Family for Flow {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        static RULES: &[&Rule] = &[
            &progress::NOT_INCREASING,
            &progress::AFTER_RESPONSE,
            &progress::TOKEN_TYPE,
            &progress::EXCEEDS_TOTAL,
            &tasks::CANCEL_TASK_REQUEST,
            &pages::CURSOR_UNKNOWN,
            &pages::CURSOR_LOOP,
            &pages::EMPTY_CURSOR_IGNORED,
            &pages::INVALID_CURSOR_CODE,
            &flood::FLOOD_NOTIFICATIONS,
        ];
        RULES
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        for part in seen.parts() {
            self.progress.part(&part, findings);
            self.tasks.part(&part, findings);
            self.pages.part(&part, findings);
            self.flood.part(&part, findings);
        }
    }

    fn event(&mut self, event: &Event, _: &Context<'_>, _: &mut Findings) {
        if let EventKind::Gap { .. } = event.kind {
            self.pages.gap();
        }
    }

    fn finish(&mut self, _: &[Observation], _: &Context<'_>, findings: &mut Findings) {
        self.pages.finish(findings);
    }
}
