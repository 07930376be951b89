//! Arguments that prompts require.

use super::rules;
use crate::finding::{Finding, Findings};
use crate::quote;
use crate::remembered::Remembered;
use crate::seen::Part;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::{Body, Outcome};
use std::sync::Arc;

/// Prompts that are remembered. Of others nothing is said.
const PROMPTS: usize = 1024;
/// Bytes of a prompt's name and its required arguments that are remembered. Together with
/// [`PROMPTS`] it bounds the memory.
const BYTES: usize = 2048;
/// Open requests that lack an argument.
const OPEN: usize = 256;

/// The prompts of the server with the arguments that they require.
#[derive(Debug)]
pub(super) struct Prompts {
    required: Remembered<Arc<str>, Vec<Box<str>>>,
    /// The first argument that an open request lacks.
    lacking: Remembered<ExchangeId, Box<str>>,
}

impl Default for Prompts {
    fn default() -> Self {
        Self {
            required: Remembered::new(PROMPTS),
            lacking: Remembered::new(OPEN),
        }
    }
}

impl Prompts {
    /// A list of prompts, if it is one.
    pub fn list(&mut self, part: &Part<'_>) {
        if !matches!(part.message.body, Body::Response(_)) {
            return;
        }
        let prompts = part.result().and_then(|result| result.get("prompts"));
        for prompt in prompts
            .into_iter()
            .flat_map(|list| list.elements())
            .take(PROMPTS)
        {
            let Some(name) = text(prompt) else { continue };
            let required = required(prompt);
            let bytes = required.iter().map(|name| name.len()).sum::<usize>() + name.len();
            if bytes <= BYTES {
                self.required.insert(name.into(), required);
            } else {
                self.required.remove(&*name);
            }
        }
    }

    /// The list has changed: what was in it may be true no more.
    pub fn changed(&mut self) {
        self.required.clear();
    }

    /// A prompt is asked for, or given.
    pub fn get(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Some(exchange) = part.exchange() else {
            return;
        };
        match &part.message.body {
            Body::Request(request) => {
                let required = request
                    .name
                    .as_deref()
                    .and_then(|name| self.required.get(name));
                let arguments = part.param("arguments");
                let has = |name: &str| arguments.is_some_and(|all| all.get(name).is_some());
                let missing = required.and_then(|all| all.iter().find(|name| !has(name)));
                if let Some(missing) = missing {
                    self.lacking.insert(exchange, missing.clone());
                }
            }
            Body::Response(response) => {
                let Some(missing) = self.lacking.remove(&exchange) else {
                    return;
                };
                if matches!(response.outcome, Outcome::Result { .. }) {
                    let detail = format!("the argument \"{}\"", quote::text(&missing));
                    let finding = part.at(&rules::PROMPT_ARGUMENT_MISSING, detail);
                    let request = part.asked().map(|asked| asked.frame);
                    findings.push(request.into_iter().fold(finding, Finding::and));
                }
            }
            _ => {}
        }
    }
}

/// The names of the arguments that a prompt requires; those that do not fit are left out.
fn required(prompt: Value<'_>) -> Vec<Box<str>> {
    let arguments = prompt.get("arguments");
    let arguments = arguments.into_iter().flat_map(|all| all.elements());
    let is_required = |argument: &Value<'_>| {
        let required = argument.get("required");
        required.and_then(|required| required.as_bool()) == Some(true)
    };
    let names = arguments.filter(is_required).filter_map(text);
    names.take(BYTES / 16).collect()
}

/// The `name` of a prompt or an argument.
fn text(named: Value<'_>) -> Option<Box<str>> {
    let name = named.get("name")?;
    let is_short = name.raw().len() <= BYTES;
    name.as_str().filter(|_| is_short).map(Into::into)
}
