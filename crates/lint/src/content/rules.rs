//! The rules of this family.

use crate::rule::{Revisions, Rule};
use crate::section;
use mcpreel_wire::mcp::Revision;

const SINCE_ELICITATION: Revisions = Revisions::since(Revision::V2025_06_18);
const SINCE_TASKS: Revisions = Revisions::since(Revision::V2025_11_25);
const TASKS_IN_CORE: Revisions = Revisions::between(Revision::V2025_11_25, Revision::V2025_11_25);

pub(super) static ELICIT_CONTENT_MISMATCH: Rule = Rule::warning(
    "elicit-content-mismatch",
    "a filled form that does not fit the schema that the server sent",
)
.why("The server asked for something else, and works on with values that it does not expect.")
.fix("Check what the user has entered against the schema before the answer is sent.")
.of(section::ELICITATION)
.only(SINCE_ELICITATION);

pub(super) static ELICIT_SENSITIVE_FORM: Rule = Rule::warning(
    "elicit-sensitive-form",
    "a form that seems to ask for a password, a token or a key",
)
.why("What is entered into a form passes through the client and may end up with the model and in logs.")
.fix("Ask for secrets on a page of your own that the user opens in a browser, or take them from the configuration.")
.of(section::ELICITATION)
.only(SINCE_ELICITATION);

pub(super) static SAMPLING_TOOL_BALANCE: Rule = Rule::error(
    "sampling-tool-balance",
    "a tool use without its result in the next message, or with other content beside it",
)
.why("Providers of models refuse such a conversation, so that sampling fails with an error of theirs.")
.fix("Let each message with uses of tools be followed by one that has a result for each of them and nothing else.")
.of(section::SAMPLING)
.only(SINCE_TASKS);

pub(super) static RELATED_TASK_MISSING: Rule = Rule::error(
    "related-task-missing",
    "a message of a task that does not name the task in `_meta`",
)
.why("The receiver cannot tell which of its tasks the message belongs to.")
.fix("Put `io.modelcontextprotocol/related-task` with the id of the task into `_meta`.")
.of(section::TASKS)
.only(TASKS_IN_CORE);

pub(super) static TASK_STATUS_TRANSITION: Rule = Rule::error(
    "task-status-transition",
    "a task that is over and goes on, or that does not begin by working",
)
.why("Whoever saw the first end has stopped asking and will never see the second.")
.fix(
    "Create tasks as `working`, and never change a status of `completed`, `failed` or `cancelled`.",
)
.of(section::TASKS)
.only(SINCE_TASKS);

pub(super) static TASK_AUGMENTATION: Rule = Rule::error(
    "task-augmentation",
    "a tool is called as a task that may not be, or not as one that must be",
)
.why("The server has to refuse the call as an unknown method, though the tool is there.")
.fix("Look at `execution.taskSupport` in the list of tools, and send `task` only where that allows it and always where it requires it.")
.of(section::TASKS)
.only(TASKS_IN_CORE);

pub(super) static PROMPT_ARGUMENT_MISSING: Rule = Rule::warning(
    "prompt-argument-missing",
    "a prompt is answered although a required argument is missing",
)
.why("The model gets a text with a hole in it, and nobody is told.")
.fix("Answer with the error -32602 if a required argument is missing, or list the argument as optional.")
.of(section::PROMPTS);

pub(super) static RULES: &[&Rule] = &[
    &ELICIT_CONTENT_MISMATCH,
    &ELICIT_SENSITIVE_FORM,
    &SAMPLING_TOOL_BALANCE,
    &RELATED_TASK_MISSING,
    &TASK_STATUS_TRANSITION,
    &TASK_AUGMENTATION,
    &PROMPT_ARGUMENT_MISSING,
];
