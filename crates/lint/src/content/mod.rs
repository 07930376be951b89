//! Rules about what params and results say beyond their shape.
//!
//! * here: sampling with tools, and the required arguments of prompts;
//! * `elicitation`: forms, and what is filled into them;
//! * `tasks`: the life of a task, and which tools are called as one.

mod elicitation;
mod tasks;

use crate::quote::{self, Trail};
use crate::{Family, Finding, Part, Revisions, section};
use elicitation::Forms;
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Outcome};
use mcpreel_wire::text::plural;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use tasks::{Augmentation, Tasks};

rules! {
    ELICIT_CONTENT_MISMATCH = warning("elicit-content-mismatch",
        "a filled form that does not fit the schema that the server sent")
        .why("The server asked for something else, and works on with values that it does not expect.")
        .fix("Check what the user has entered against the schema before the answer is sent.")
        .of(section::ELICITATION)
        .only(SINCE_ELICITATION);

    ELICIT_SENSITIVE_FORM = warning("elicit-sensitive-form",
        "a form that seems to ask for a password, a token or a key")
        .why("What is entered into a form passes through the client and may end up with the model and in logs.")
        .fix("Ask for secrets on a page of your own that the user opens in a browser, or take them from the configuration.")
        .of(section::ELICITATION)
        .only(SINCE_ELICITATION);

    SAMPLING_TOOL_BALANCE = error("sampling-tool-balance",
        "a tool use without its result in the next message, or with other content beside it")
        .why("Providers of models refuse such a conversation, so that sampling fails with an error of theirs.")
        .fix("Let each message with uses of tools be followed by one that has a result for each of them and nothing else.")
        .of(section::SAMPLING)
        .only(SINCE_TASKS);

    RELATED_TASK_MISSING = error("related-task-missing",
        "a message of a task that does not name the task in `_meta`")
        .why("The receiver cannot tell which of its tasks the message belongs to.")
        .fix("Put `io.modelcontextprotocol/related-task` with the id of the task into `_meta`.")
        .of(section::TASKS)
        .only(TASKS_IN_CORE);

    TASK_STATUS_TRANSITION = error("task-status-transition",
        "a task that is over and goes on, or that does not begin by working")
        .why("Whoever saw the first end has stopped asking and will never see the second.")
        .fix("Create tasks as `working`, and never change a status of `completed`, `failed` or `cancelled`.")
        .of(section::TASKS)
        .only(SINCE_TASKS);

    TASK_AUGMENTATION = error("task-augmentation",
        "a tool is called as a task that may not be, or not as one that must be")
        .why("The server has to refuse the call as an unknown method, though the tool is there.")
        .fix("Look at `execution.taskSupport` in the list of tools, and send `task` only where that allows it and always where it requires it.")
        .of(section::TASKS)
        .only(TASKS_IN_CORE);

    PROMPT_ARGUMENT_MISSING = warning("prompt-argument-missing",
        "a prompt is answered although a required argument is missing")
        .why("The model gets a text with a hole in it, and nobody is told.")
        .fix("Answer with the error -32602 if a required argument is missing, or list the argument as optional.")
        .of(section::PROMPTS);
}

/// The family of these rules. What its parts remember is bounded by constants beside them.
#[derive(Debug, Default)]
pub struct Content {
    forms: Forms,
    tasks: Tasks,
    augmentation: Augmentation,
    prompts: Prompts,
}

impl Family for Content {
    fn part(&mut self, part: &Part<'_>) {
        if part.value.is_some() {
            self.part(part);
        }
    }
}

impl Content {
    fn part(&mut self, part: &Part<'_>) {
        let Some(method) = part.method() else { return };
        match method {
            "elicitation/create" | "sampling/createMessage" => {
                self.forms.part(part);
                sampling(part);
            }
            "resources/read" => self.forms.part(part),
            "tools/call" => {
                self.forms.part(part);
                sampling(part);
                self.augmentation.call(part);
            }
            "prompts/get" => {
                self.forms.part(part);
                self.prompts.get(part);
            }
            "tools/list" => self.augmentation.list(part),
            "notifications/tools/list_changed" => self.augmentation.changed(),
            "prompts/list" => self.prompts.list(part),
            "notifications/prompts/list_changed" => self.prompts.changed(),
            _ => {}
        }
        self.tasks.part(part, method);
    }
}

const SINCE_ELICITATION: Revisions = Revisions::since(Revision::V2025_06_18);
const SINCE_TASKS: Revisions = Revisions::since(Revision::V2025_11_25);
const TASKS_IN_CORE: Revisions = Revisions::between(Revision::V2025_11_25, Revision::V2025_11_25);

// What a server asks of its client: by a request of its own, or, since 2026-07-28, in a result
// that asks for input first.

/// Requests in one result that are looked at. Without a limit a hostile one would take long in
/// every rule that looks at them.
const IN_ONE_RESULT: usize = 64;

/// One thing that a server asks for.
#[derive(Clone, Copy, Debug)]
struct Asking<'a, 'p> {
    pub params: Value<'a>,
    pub place: &'p Trail<'p>,
    /// Its key among what a result asks for.
    pub key: Option<Value<'a>>,
}

/// Shows each request for `method` that is in the message.
fn each<'a>(part: &Part<'a>, method: &str, show: &mut dyn FnMut(Asking<'a, '_>)) {
    match &part.message.body {
        Body::Request(_) if part.method() == Some(method) => {
            if let Some(params) = part.params() {
                let (place, key) = (&Trail::Member(&Trail::Top, "params"), None);
                show(Asking { params, place, key });
            }
        }
        Body::Response(_) => {
            let Some(requests) = part.result().and_then(|result| result.get("inputRequests"))
            else {
                return;
            };
            let result = Trail::Member(&Trail::Top, "result");
            let all = Trail::Member(&result, "inputRequests");
            for (name, request) in requests.members().take(IN_ONE_RESULT) {
                let is_it = request.get("method").is_some_and(|one| one.is_str(method));
                if let Some(params) = request.get("params").filter(|_| is_it) {
                    let key = Some(name);
                    let place = &Trail::Named(&all, name);
                    let place = &Trail::Member(place, "params");
                    show(Asking { params, place, key });
                }
            }
        }
        _ => {}
    }
}

// Conversations with tools (Sampling, Tool use and result balance).

fn sampling(part: &Part<'_>) {
    each(part, "sampling/createMessage", &mut |asking| {
        conversation(part, &asking);
    });
}

/// Tells of the first fault only: what comes after it hangs together with it.
fn conversation(part: &Part<'_>, asking: &Asking<'_, '_>) {
    let Some(messages) = asking.params.get("messages") else {
        return;
    };
    let mut following = messages.elements().skip(1);
    for (index, message) in messages.elements().enumerate() {
        let next = following.next();
        if let Some(detail) = mixed(message).or_else(|| unanswered(message, next)) {
            let place = Trail::Member(asking.place, "messages");
            part.tell_at(
                &SAMPLING_TOOL_BALANCE,
                Trail::Element(&place, index).path(),
                detail,
            );
            return;
        }
    }
}

/// Results of tools together with something else.
fn mixed(message: Value<'_>) -> Option<String> {
    let results = blocks(message).filter(|block| is_a(*block, "tool_result"));
    let results = results.count();
    let others = blocks(message).count() - results;
    let is_mixed = is_of(message, "user") && results > 0 && others > 0;
    is_mixed.then(|| {
        let results = plural(results as u64, "result");
        let others = plural(others as u64, "other block");
        format!("{results} of tools together with {others}")
    })
}

/// Uses of tools without a result in the next message.
fn unanswered(message: Value<'_>, next: Option<Value<'_>>) -> Option<String> {
    if !is_of(message, "assistant") {
        return None;
    }
    let mut uses = blocks(message)
        .filter(|block| is_a(*block, "tool_use"))
        .filter_map(|block| text(block, "id"))
        .peekable();
    uses.peek()?;
    let next = next.filter(|next| is_of(*next, "user"));
    let results: HashSet<_> = next
        .into_iter()
        .flat_map(blocks)
        .filter(|block| is_a(*block, "tool_result"))
        .filter_map(|block| text(block, "toolUseId"))
        .collect();
    let missing = uses.find(|id| !results.contains(id))?;
    let missing = quote::text(&missing);
    Some(format!(
        "the use \"{missing}\" has no result in the next message"
    ))
}

/// The blocks of a message, one or several.
fn blocks(message: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let content = message.get("content");
    let one = content.filter(Value::is_object);
    let several = content.filter(|content| content.kind() == Kind::Array);
    let several = several.into_iter().flat_map(|content| content.elements());
    one.into_iter().chain(several)
}

fn is_of(message: Value<'_>, role: &str) -> bool {
    message.get("role").is_some_and(|one| one.is_str(role))
}

fn is_a(block: Value<'_>, kind: &str) -> bool {
    block.get("type").is_some_and(|one| one.is_str(kind))
}

fn text<'d>(block: Value<'d>, member: &str) -> Option<Cow<'d, str>> {
    block.get(member)?.as_str()
}

// Arguments that prompts require.

/// Prompts that are remembered. Of others nothing is said.
const PROMPTS: usize = 1024;
/// Bytes of a prompt's name and its required arguments that are remembered. Together with
/// [`PROMPTS`] it bounds the memory.
const BYTES: usize = 2048;
/// Open requests that lack an argument.
const OPEN: usize = 256;

/// The prompts of the server with the arguments that they require.
#[derive(Debug, Default)]
struct Prompts {
    required: BoundedMap<Arc<str>, Vec<Box<str>>, PROMPTS>,
    /// The first argument that an open request lacks.
    lacking: BoundedMap<ExchangeId, Box<str>, OPEN>,
}

impl Prompts {
    /// A list of prompts, if it is one.
    pub fn list(&mut self, part: &Part<'_>) {
        if !matches!(&part.message.body, Body::Response(_)) {
            return;
        }
        let prompts = part.result().and_then(|result| result.get("prompts"));
        for prompt in prompts
            .into_iter()
            .flat_map(|list| list.elements())
            .take(PROMPTS)
        {
            let Some(name) = name_of(prompt) else {
                continue;
            };
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
    pub fn get(&mut self, part: &Part<'_>) {
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
                    let finding = part.at(&PROMPT_ARGUMENT_MISSING, detail);
                    let request = part.request().map(|asked| asked.frame);
                    part.push(request.into_iter().fold(finding, Finding::and));
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
    let names = arguments.filter(is_required).filter_map(name_of);
    names.take(BYTES / 16).collect()
}

/// The `name` of a prompt or an argument.
fn name_of(named: Value<'_>) -> Option<Box<str>> {
    let name = named.get("name")?;
    let is_short = name.raw().len() <= BYTES;
    name.as_str().filter(|_| is_short).map(Into::into)
}
