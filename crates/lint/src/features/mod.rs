//! Rules about what params and results say beyond their shape.
//!
//! * here: sampling with tools, and the required arguments of prompts;
//! * `elicitation`: forms, and what is filled into them;
//! * `tasks`: the life of a task, and which tools are called as one.

mod elicitation;
mod tasks;

use crate::quote::{self, written};
use crate::{Family, Part, Revisions, section};
use elicitation::Forms;
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::json::{Kind, Step, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Outcome};
use mcpreel_wire::text::plural;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use tasks::Tasks;

const SINCE_ELICITATION: Revisions = Revisions::since(Revision::V2025_06_18);
const SINCE_TASKS: Revisions = Revisions::since(Revision::V2025_11_25);
const TASKS_IN_CORE: Revisions = Revisions::between(Revision::V2025_11_25, Revision::V2025_11_25);

rules! {
    ELICIT_CONTENT_MISMATCH = warning("elicit-content-mismatch").of(section::ELICITATION)
        .only(SINCE_ELICITATION)
        .finds("a filled form that does not fit the schema that the server sent")
        .why("The server asked for something else, and works on with values that it does not expect.")
        .fix("Check what the user has entered against the schema before the answer is sent.");

    ELICIT_SENSITIVE_FORM = warning("elicit-sensitive-form").of(section::ELICITATION)
        .only(SINCE_ELICITATION)
        .finds("a form that seems to ask for a password, a token or a key")
        .why("What is entered into a form passes through the client and may end up with the model and in logs.")
        .fix("Ask for secrets on a page of your own that the user opens in a browser, or take them from the configuration.");

    SAMPLING_TOOL_BALANCE = error("sampling-tool-balance").of(section::SAMPLING).only(SINCE_TASKS)
        .finds("a tool use without its result in the next message, or with other content beside it")
        .why("Providers of models refuse such a conversation, so that sampling fails with an error of theirs.")
        .fix("Let each message with uses of tools be followed by one that has a result for each of them and nothing else.");

    RELATED_TASK_MISSING = error("related-task-missing").of(section::TASKS).only(TASKS_IN_CORE)
        .finds("a message of a task that does not name the task in `_meta`")
        .why("The receiver cannot tell which of its tasks the message belongs to.")
        .fix("Put `io.modelcontextprotocol/related-task` with the id of the task into `_meta`.");

    TASK_STATUS_TRANSITION = error("task-status-transition").of(section::TASKS).only(SINCE_TASKS)
        .finds("a task that is over and goes on, or that does not begin by working")
        .why("A client that saw the first end has stopped polling and misses the second.")
        .fix("Create tasks as `working`, and never change a status of `completed`, `failed` or `cancelled`.");

    TASK_AUGMENTATION = error("task-augmentation").of(section::TASKS).only(TASKS_IN_CORE)
        .finds("a tool is called as a task that may not be, or not as one that must be")
        .why("The server has to refuse the call as an unknown method, though the tool exists.")
        .fix("Look at `execution.taskSupport` in the list of tools, and send `task` only where that allows it and always where it requires it.");

    PROMPT_ARGUMENT_MISSING = warning("prompt-argument-missing").of(section::PROMPTS)
        .finds("a prompt is answered although a required argument is missing")
        .why("The model gets an incomplete text, and no error says so.")
        .fix("Answer with the error -32602 if a required argument is missing, or list the argument as optional.");
}

/// The family of these rules. What its parts remember is bounded by constants beside them.
#[derive(Debug, Default)]
pub struct Features {
    forms: Forms,
    tasks: Tasks,
    prompts: Prompts,
}

impl Family for Features {
    fn part(&mut self, part: &Part<'_>) {
        let Some(method) = part.method().filter(|_| part.value.is_some()) else {
            return;
        };
        if let "elicitation/create" | "resources/read" | "tools/call" | "prompts/get" = method {
            self.forms.part(part);
        }
        match method {
            "elicitation/create" | "sampling/createMessage" | "tools/call" => sampling(part),
            "prompts/get" => self.prompts.get(part),
            "prompts/list" => self.prompts.list(part),
            "notifications/prompts/list_changed" => self.prompts.required.clear(),
            _ => {}
        }
        self.tasks.part(part, method);
    }
}

/// Requests in one result that are looked at. Without a limit a hostile one would take long in
/// every rule that looks at them.
const IN_ONE_RESULT: usize = 64;

/// A request of a server to its client: by a request of its own, or, since 2026-07-28, in a
/// result that asks for input first.
struct Asking<'a> {
    params: Value<'a>,
    /// The steps to these params.
    place: Vec<Step>,
    /// The key among the requests of a result.
    key: Option<Cow<'a, str>>,
}

impl Asking<'_> {
    /// The path of a value that `steps` lead to.
    fn path(&self, steps: impl IntoIterator<Item = Step>) -> Box<str> {
        written(self.place.iter().cloned().chain(steps).collect())
    }
}

fn member(name: &str) -> Step {
    Step::Member(name.into())
}

/// The requests for `method` in a message.
fn asked_of_client<'a>(part: &Part<'a>, method: &str) -> Vec<Asking<'a>> {
    if let Body::Request(_) = part.message.body {
        let params = part.params().filter(|_| part.method() == Some(method));
        let asking = |params| Asking {
            params,
            place: vec![member("params")],
            key: None,
        };
        return params.map(asking).into_iter().collect();
    }
    let requests = part.result().and_then(|result| result.get("inputRequests"));
    let members = requests.into_iter().flat_map(|requests| requests.members());
    let asking = |(key, request): (Value<'a>, Value<'a>)| {
        let is_it = request.get("method").is_some_and(|one| one.is_str(method));
        let params = request.get("params").filter(|_| is_it)?;
        let key = key.as_str()?;
        let place = ["result", "inputRequests", &key, "params"]
            .map(member)
            .into();
        let key = Some(key);
        Some(Asking { params, place, key })
    };
    members.take(IN_ONE_RESULT).filter_map(asking).collect()
}

/// Conversations with tools (Sampling, Tool use and result balance). Of each only the first fault is
/// told: what comes after it hangs together with it.
fn sampling(part: &Part<'_>) {
    for asking in asked_of_client(part, "sampling/createMessage") {
        let messages = asking.params.get("messages");
        let messages: Vec<_> = messages.iter().flat_map(Value::elements).collect();
        let fault = |(index, message): (usize, &Value<'_>)| {
            let next = messages.get(index + 1).copied();
            Some((
                index,
                mixed(*message).or_else(|| unanswered(*message, next))?,
            ))
        };
        if let Some((index, detail)) = messages.iter().enumerate().find_map(fault) {
            let path = asking.path([member("messages"), Step::Element(index)]);
            part.tell_at(&SAMPLING_TOOL_BALANCE, path, detail);
        }
    }
}

/// Results of tools together with something else.
fn mixed(message: Value<'_>) -> Option<String> {
    let (results, others): (Vec<_>, Vec<_>) =
        blocks(message).partition(|block| is_a(block, "tool_result"));
    let is_mixed = is_of(message, "user") && !results.is_empty() && !others.is_empty();
    is_mixed.then(|| {
        let results = plural(results.len() as u64, "result");
        let others = plural(others.len() as u64, "other block");
        format!("{results} of tools together with {others}")
    })
}

/// Uses of tools without a result in the next message.
fn unanswered(message: Value<'_>, next: Option<Value<'_>>) -> Option<String> {
    if !is_of(message, "assistant") {
        return None;
    }
    let next = next.filter(|next| is_of(*next, "user"));
    let results = next.into_iter().flat_map(blocks);
    let results = results.filter(|block| is_a(block, "tool_result"));
    let results: HashSet<_> = results
        .filter_map(|block| text(block, "toolUseId"))
        .collect();
    let uses = blocks(message).filter(|block| is_a(block, "tool_use"));
    let mut uses = uses.filter_map(|block| text(block, "id"));
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

fn is_a(block: &Value<'_>, kind: &str) -> bool {
    block.get("type").is_some_and(|one| one.is_str(kind))
}

fn text<'d>(block: Value<'d>, member: &str) -> Option<Cow<'d, str>> {
    block.get(member)?.as_str()
}

/// The string `member` of an object, unless it has more than `limit` bytes.
fn short_text<'d>(object: Value<'d>, member: &str, limit: usize) -> Option<Cow<'d, str>> {
    let value = object
        .get(member)
        .filter(|value| value.raw().len() <= limit)?;
    value.as_str()
}

/// The first elements of a list in a result.
fn listed<'a>(part: &Part<'a>, member: &str, limit: usize) -> impl Iterator<Item = Value<'a>> {
    let is_response = matches!(part.message.body, Body::Response(_));
    let list = part.result().and_then(|result| result.get(member));
    let list = list.filter(|_| is_response).into_iter();
    list.flat_map(|list| list.elements()).take(limit)
}

/// Prompts that are remembered. Of others nothing is said.
const PROMPTS: usize = 1024;

/// Bytes of a name that is remembered, and names of required arguments of a prompt. Together with
/// [`PROMPTS`] they bound the memory.
const NAME: usize = 128;
const REQUIRED: usize = 16;

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
    fn list(&mut self, part: &Part<'_>) {
        for prompt in listed(part, "prompts", PROMPTS) {
            let Some(name) = short_text(prompt, "name", NAME) else {
                continue;
            };
            let arguments = prompt.get("arguments");
            let arguments = arguments.into_iter().flat_map(|all| all.elements());
            let required = arguments.filter(|argument| {
                let required = argument.get("required");
                required.and_then(|required| required.as_bool()) == Some(true)
            });
            let names = required.filter_map(|it| short_text(it, "name", NAME));
            let names = names.take(REQUIRED).map(Into::into).collect();
            self.required.insert((&*name).into(), names);
        }
    }

    /// A prompt is asked for, or given.
    fn get(&mut self, part: &Part<'_>) {
        let Some(exchange) = part.exchange() else {
            return;
        };
        match &part.message.body {
            Body::Request(request) => {
                let required = request.name.as_deref();
                let required = required.and_then(|name| self.required.get(name));
                let arguments = part.param("arguments");
                let has = |name: &str| arguments.is_some_and(|all| all.get(name).is_some());
                let missing = required.and_then(|all| all.iter().find(|name| !has(name)));
                if let Some(missing) = missing.cloned() {
                    self.lacking.insert(exchange, missing);
                }
            }
            Body::Response(response) => {
                let missing = self.lacking.remove(&exchange);
                let is_result = matches!(response.outcome, Outcome::Result { .. });
                if let Some(missing) = missing.filter(|_| is_result) {
                    let detail = format!("the argument \"{}\"", quote::text(&missing));
                    let mut finding = part.at(&PROMPT_ARGUMENT_MISSING, detail);
                    finding
                        .related
                        .extend(part.request().map(|asked| asked.frame));
                    part.push(finding);
                }
            }
            _ => {}
        }
    }
}
