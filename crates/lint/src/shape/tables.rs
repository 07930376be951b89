//! The shapes of every method, a table per revision that says what changed.
//!
//! ```text
//! Tool = { name: string, title?: string }      an object with these members; it may have others
//! Tool, Prompt + { icons?: [Icon] }            a later revision adds members, or replaces them
//! ContentBlock = by type { text: TextContent } objects that the member `type` tells apart
//! ContentBlock + by { audio: AudioContent }    more of them
//! tools/call(CallToolParams): CallToolResult   a request, its params and its result
//! notifications/cancelled(CancelledParams)     without a result, or with any
//! ```
//!
//! `[T]` is an array, `{*: T}` an object whose members all are `T`, `"a" | "b"` one of these words,
//! `T | U` the one of that kind of JSON value, `T & U` both, `?T` is `T` where it is an object (a
//! rule of its own looks at the rest), `having { a: T }` an object that is the first of these whose
//! member it has. `by` may end in `...` (other values are told elsewhere) and in `else T` (without
//! the member). A new revision is a table here and a line in `TABLES`.

use super::language::Shapes;
use mcpreel_wire::mcp::Revision;
use std::sync::LazyLock;

/// The tables, in the order of [`Revision::ALL`].
const TABLES: [&str; Revision::ALL.len()] = [
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
];

/// The shapes of `revision`: those of its table and of all earlier ones.
pub fn shapes(revision: Revision) -> &'static Shapes {
    static ALL: LazyLock<Vec<Shapes>> = LazyLock::new(|| {
        let mut shapes = Shapes::default();
        let mut cumulate = |table: &&'static str| {
            shapes.read(table);
            shapes.clone()
        };
        TABLES.iter().map(&mut cumulate).collect()
    });
    &ALL[revision as usize]
}

/// The first revision. Left open, because rules of their own look there: what a handshake must say,
/// the schemas of tools, `isError`, `structuredContent`, progress tokens.
const V2024_11_05: &str = r#"
RequestParams = { _meta?: RequestMeta }
NotificationParams = { _meta?: NotificationMeta }
Result = { _meta?: ResultMeta }
RequestMeta = {}
NotificationMeta = {}
ResultMeta = {}
Meta = {}
# Texts with a grammar of their own, and lists with a limit.
Base64 = string
Uri = string
UriTemplate = string
RootUri = string
IconSource = string
CompletionValues = [string]

Implementation = { name: string, version: string }
ImplementationDetails = {}
ClientCapabilities = {
    experimental?: {*: object}, roots?: { listChanged?: boolean }, sampling?: {},
}
ServerCapabilities = {
    experimental?: {*: object}, logging?: object, prompts?: { listChanged?: boolean },
    resources?: { subscribe?: boolean, listChanged?: boolean }, tools?: { listChanged?: boolean },
}
Annotations = { audience?: [Role], priority?: share }
Role = "user" | "assistant"
LoggingLevel = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency"
PaginatedParams = { cursor?: string }
ResourceParams = { uri: Uri }

InitializeParams = { capabilities?: ?ClientCapabilities, clientInfo?: ?ImplementationDetails }
InitializeResult = {
    capabilities?: ?ServerCapabilities, serverInfo?: ?ImplementationDetails,
    instructions?: string,
}
CancelledParams = { requestId: string | integer, reason?: string }
ProgressParams = { progressToken: any, progress: number, total?: number }

Resource = {
    uri: Uri, name: string, description?: string, mimeType?: string, size?: integer,
    annotations?: Annotations,
}
ResourceTemplate = {
    uriTemplate: UriTemplate, name: string, description?: string, mimeType?: string,
    annotations?: Annotations,
}
ResourceContents = { uri: Uri, mimeType?: string, text?: string, blob?: Base64 }
ListResourcesResult = { resources: [Resource], nextCursor?: string }
ListResourceTemplatesResult = { resourceTemplates: [ResourceTemplate], nextCursor?: string }
ReadResourceResult = { contents: [ResourceContents] }

Prompt = { name: string, description?: string, arguments?: [PromptArgument] }
PromptArgument = { name: string, description?: string, required?: boolean }
PromptMessage = { role: Role, content: ContentBlock }
ListPromptsResult = { prompts: [Prompt], nextCursor?: string }
GetPromptParams = { name: string, arguments?: {*: string} }
GetPromptResult = { description?: string, messages: [PromptMessage] }

Tool = { name: string, description?: string }
ListToolsResult = { tools: [Tool], nextCursor?: string }
CallToolParams = { name: string, arguments?: object }
CallToolResult = { content: [ContentBlock] }

ContentBlock = by type { text: TextContent, image: ImageContent, resource: EmbeddedResource }
TextContent = { text: string, annotations?: Annotations }
ImageContent = { data: Base64, mimeType: string, annotations?: Annotations }
EmbeddedResource = { resource: ResourceContents, annotations?: Annotations }

CreateMessageParams = {
    messages: [SamplingMessage], maxTokens: integer, modelPreferences?: ModelPreferences,
    systemPrompt?: string, includeContext?: "none" | "thisServer" | "allServers",
    temperature?: number, stopSequences?: [string], metadata?: object,
}
CreateMessageResult = { role: Role, content: SamplingContent, model: string, stopReason?: string }
SamplingMessage = { role: Role, content: SamplingContent }
SamplingContent = by type { text: TextContent, image: ImageContent }
ModelPreferences = {
    hints?: [{ name?: string }], costPriority?: share, speedPriority?: share,
    intelligencePriority?: share,
}

CompleteParams = { ref: Reference, argument: { name: string, value: string } }
CompleteResult = { completion: { values: CompletionValues, total?: integer, hasMore?: boolean } }
Reference = by type { ref/prompt: { name: string }, ref/resource: { uri: UriTemplate } }

SetLevelParams = { level: LoggingLevel }
LoggingMessageParams = { level: LoggingLevel, data: any, logger?: string }
Root = { uri: RootUri, name?: string }
ListRootsResult = { roots: [Root] }

initialize(InitializeParams): InitializeResult
tools/list(PaginatedParams): ListToolsResult
tools/call(CallToolParams): CallToolResult
resources/list(PaginatedParams): ListResourcesResult
resources/templates/list(PaginatedParams): ListResourceTemplatesResult
resources/read(ResourceParams): ReadResourceResult
resources/subscribe(ResourceParams)
resources/unsubscribe(ResourceParams)
prompts/list(PaginatedParams): ListPromptsResult
prompts/get(GetPromptParams): GetPromptResult
completion/complete(CompleteParams): CompleteResult
logging/setLevel(SetLevelParams)
sampling/createMessage(CreateMessageParams): CreateMessageResult
roots/list(any): ListRootsResult
notifications/cancelled(CancelledParams)
notifications/progress(ProgressParams)
notifications/message(LoggingMessageParams)
notifications/resources/updated(ResourceParams)
"#;

/// Audio, hints about tools, completions as a capability, words for progress.
const V2025_03_26: &str = "
AudioContent = { data: Base64, mimeType: string, annotations?: Annotations }
ContentBlock + by { audio: AudioContent }
SamplingContent + by { audio: AudioContent }
ServerCapabilities + { completions?: object }
ProgressParams + { message?: string }
Tool + { annotations?: ToolAnnotations }
ToolAnnotations = {
    title?: string, readOnlyHint?: boolean, destructiveHint?: boolean, idempotentHint?: boolean,
    openWorldHint?: boolean,
}
";

/// Elicitation, titles, links to resources, `_meta` in many places.
const V2025_06_18: &str = r#"
NumberField = { title?: string, description?: string, minimum?: number, maximum?: number }
Annotations + { lastModified?: string }
ClientCapabilities + { elicitation?: {} }
Implementation, ImplementationDetails, PromptArgument + { title?: string }
Resource, ResourceTemplate, Prompt, Tool + { title?: string, _meta?: Meta }
ResourceContents, TextContent, ImageContent, AudioContent, EmbeddedResource + { _meta?: Meta }
Root + { _meta?: Meta }
ResourceLink = Resource
ContentBlock + by { resource_link: ResourceLink }
Reference + by { ref/prompt: { name: string, title?: string } }
CompleteParams + { context?: { arguments?: {*: string} } }

ElicitParams = { message: string, requestedSchema: RequestedSchema }
ElicitResult = { action: "accept" | "decline" | "cancel", content?: {*: FieldValue} }
RequestedSchema = { type: "object", properties: {*: PrimitiveSchema}, required?: [string] }
PrimitiveSchema = by type {
    string: {
        title?: string, description?: string, minLength?: integer, maxLength?: integer,
        format?: "email" | "uri" | "date" | "date-time",
    },
    number: NumberField, integer: NumberField,
    boolean: { title?: string, description?: string, default?: boolean },
}
# The schema that is generated from the published types wants integers here, a mistake.
FieldValue = string | number | boolean

elicitation/create(ElicitParams): ElicitResult
"#;

/// Tasks, icons, tools in sampling, elicitation by URL, richer forms.
const V2025_11_25: &str = r#"
TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled"
Form = { message: string, requestedSchema: RequestedSchema, task?: TaskMetadata }
NumberField = {
    title?: string, description?: string, minimum?: number, maximum?: number, default?: number,
}
Icon = { src: IconSource, mimeType?: string, sizes?: [string], theme?: "light" | "dark" }
Implementation, ImplementationDetails + { description?: string, websiteUrl?: Uri, icons?: [Icon] }
Resource, ResourceTemplate, Prompt + { icons?: [Icon] }
Tool + { icons?: [Icon], execution?: { taskSupport?: "forbidden" | "optional" | "required" } }
ClientCapabilities + {
    sampling?: { context?: object, tools?: object },
    elicitation?: { form?: object, url?: object },
    tasks?: {
        list?: object, cancel?: object,
        requests?: { sampling?: { createMessage?: object }, elicitation?: { create?: object } },
    },
}
ServerCapabilities + {
    tasks?: { list?: object, cancel?: object, requests?: { tools?: { call?: object } } },
}

CallToolParams + { task?: TaskMetadata }
CreateMessageParams + {
    task?: TaskMetadata, tools?: [Tool], toolChoice?: { mode?: "auto" | "required" | "none" },
}
CreateMessageResult + { content: SamplingContent | [SamplingContent] }
SamplingMessage + { content: SamplingContent | [SamplingContent], _meta?: Meta }
SamplingContent + by { tool_use: ToolUseContent, tool_result: ToolResultContent }
ToolUseContent = { id: string, name: string, input: object, _meta?: Meta }
ToolResultContent = {
    toolUseId: string, content: [ContentBlock], structuredContent?: object, isError?: boolean,
    _meta?: Meta,
}

ElicitParams = by mode {
    form: Form, url: { message: string, elicitationId: string, url: Uri, task?: TaskMetadata },
} else Form
RequestedSchema + { $schema?: string }
FieldValue = string | number | boolean | [string]
PrimitiveSchema + by {
    string: {
        title?: string, description?: string, minLength?: integer, maxLength?: integer,
        default?: string, format?: "email" | "uri" | "date" | "date-time",
    },
    array: {
        title?: string, description?: string, minItems?: integer, maxItems?: integer,
        default?: [string],
        items: having {
            anyOf: { anyOf: [{ const: string, title: string }] },
            enum: { type: "string", enum: [string] },
        },
    },
}

TaskMetadata = { ttl?: number }
Task = {
    taskId: string, status: TaskStatus, statusMessage?: string, createdAt: string,
    lastUpdatedAt: string, ttl: number | null, pollInterval?: number,
}
CreateTaskResult = { task: Task }
TaskParams = { taskId: string }
ListTasksResult = { tasks: [Task], nextCursor?: string }

tasks/get(TaskParams): Task
tasks/result(TaskParams): any
tasks/cancel(TaskParams): Task
tasks/list(PaginatedParams): ListTasksResult
notifications/tasks/status(Task)
notifications/elicitation/complete({ elicitationId: string })
"#;

/// No handshake, input rounds instead of requests of the server, listen streams, tasks as an
/// extension. Left open, because rules of their own look there: what every request and result must
/// say about itself, caching hints, which requests a server may ask for, subscription ids.
const V2026_07_28: &str = "
Form = { message: string, requestedSchema: RequestedSchema }
RequestMeta + {
    io.modelcontextprotocol/clientInfo?: Implementation,
    io.modelcontextprotocol/clientCapabilities?: ?ClientCapabilities,
    io.modelcontextprotocol/logLevel?: LoggingLevel,
}
ResultMeta + { io.modelcontextprotocol/serverInfo?: Implementation }
ClientCapabilities = {
    experimental?: {*: object}, extensions?: {*: object}, roots?: object,
    sampling?: { context?: object, tools?: object },
    elicitation?: { form?: object, url?: object },
}
ServerCapabilities + { extensions?: {*: object}, tasks?: any }
DiscoverResult = {
    supportedVersions: [string], capabilities: ServerCapabilities, instructions?: string,
}

Tool + { execution?: any }
CallToolParams = {
    name: string, arguments?: object, inputResponses?: {*: InputResponse}, requestState?: string,
}
GetPromptParams + { inputResponses?: {*: InputResponse}, requestState?: string }
RetryParams = { uri: Uri, inputResponses?: {*: InputResponse}, requestState?: string }

InputRequiredResult = { inputRequests?: {*: InputRequest}, requestState?: string }
InputRequest = by method {
    elicitation/create: { params: ElicitParams },
    sampling/createMessage: { params: CreateMessageParams },
    roots/list: { params?: { _meta?: Meta } }, ...,
} else any
InputResponse = having {
    action: ElicitResult, roots: ListRootsResult, model: CreateMessageResult,
}
ElicitParams = by mode { form: Form, url: { message: string, url: Uri } } else Form
CreateMessageParams + { task?: any }
ToolResultContent + { structuredContent?: any }

SubscriptionFilter = {
    toolsListChanged?: boolean, promptsListChanged?: boolean, resourcesListChanged?: boolean,
    resourceSubscriptions?: [Uri], taskIds?: [string],
}
SubscriptionParams = { notifications: SubscriptionFilter }

Task = {
    taskId: string, status: TaskStatus, statusMessage?: string, createdAt: string,
    lastUpdatedAt: string, ttlMs: number | null, pollIntervalMs?: number,
}
DetailedTask = Task & by status {
    input_required: { inputRequests: {*: InputRequest} }, completed: { result: object },
    failed: { error: { code: integer, message: string } }, ...,
} else any
CreateTaskResult = Task
UpdateTaskParams = { taskId: string, inputResponses: {*: InputResponse} }

server/discover(any): DiscoverResult
resources/read(RetryParams): ReadResourceResult
subscriptions/listen(SubscriptionParams): any
tasks/get(TaskParams): DetailedTask
tasks/update(UpdateTaskParams): any
tasks/cancel(TaskParams): any
notifications/subscriptions/acknowledged(SubscriptionParams)
notifications/tasks(DetailedTask)
";

#[cfg(test)]
mod tests {
    use super::super::language::Shape;
    use super::*;

    /// Calls `look` for `shape` and all shapes in it, with how deep they stand.
    fn walk(shapes: &Shapes, shape: &Shape, depth: usize, look: &mut dyn FnMut(&Shape, usize)) {
        look(shape, depth);
        let inside: Vec<&Shape> = match shape {
            Shape::Fields(fields) => fields.iter().map(|field| &field.shape).collect(),
            Shape::Map(one) | Shape::List(one) | Shape::WhereObject(one) => vec![one],
            Shape::Either(all) | Shape::All(all) => all.iter().collect(),
            Shape::Having(cases) => cases.iter().map(|case| &case.1).collect(),
            Shape::Tagged(tagged) => {
                let cases = tagged.cases.iter().map(|case| &case.1);
                cases.chain(tagged.default.as_deref()).collect()
            }
            Shape::Of(name) => {
                let shape = shapes.of(name);
                vec![shape.unwrap_or_else(|| panic!("{name} is used where it is unknown"))]
            }
            _ => Vec::new(),
        };
        for one in inside {
            walk(shapes, one, depth + 1, look);
        }
    }

    fn each(look: &mut dyn FnMut(&Shapes, &Shape, usize)) {
        for &revision in Revision::ALL {
            let all = shapes(revision);
            for method in all.methods.values() {
                for shape in [&method.params, &method.result] {
                    walk(all, shape, 0, &mut |shape, depth| look(all, shape, depth));
                }
            }
        }
    }

    #[test]
    fn shapes_end_and_name_only_what_is_there() {
        // A shape that contains itself would overflow this test.
        let mut deepest = 0;
        each(&mut |_, _, depth| deepest = deepest.max(depth));
        assert!((8..40).contains(&deepest), "{deepest}");
    }

    #[test]
    fn every_method_has_its_shapes_from_its_first_revision_on() {
        use mcpreel_wire::mcp::methods::{self, METHODS};
        for method in METHODS {
            for usage in method.uses() {
                // A table leaves out what may have any params and any result.
                let found = shapes(usage.from).methods.contains_key(method.name);
                let is_any = method.name.ends_with("list_changed")
                    || ["ping", "notifications/initialized"].contains(&method.name);
                assert!(found != is_any, "{} in {}", method.name, usage.from);
            }
        }
        for &revision in Revision::ALL {
            for name in shapes(revision).methods.keys() {
                let method = methods::find(name);
                let used = method.into_iter().flat_map(methods::Method::uses);
                let known = used.into_iter().any(|usage| usage.from <= revision);
                assert!(known, "{name} in {revision}");
            }
        }
    }
}
