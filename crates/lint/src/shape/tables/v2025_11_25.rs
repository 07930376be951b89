//! Revision 2025-11-25: tasks, icons, tools in sampling, elicitation by URL, richer forms.

use crate::shape::language::Shape::{
    Boolean, Either, Fields, Having, Integer, List, Null, Number, Object, Of, String, Tagged, Word,
};
use crate::shape::language::{
    self, Change, Field, Method, Shape, Table, has, is, notification, object, opt, req, request,
};
use crate::shape::types::Type::{self, *};

pub(super) const TABLE: Table = Table {
    types: TYPES,
    methods: METHODS,
};

const ICONS: &[Field] = &[opt("icons", List(&Of(Icon)))];
const TASK: &[Field] = &[opt("task", Of(TaskMetadata))];
const PROGRAM: &[Field] = &[
    opt("description", String),
    opt("websiteUrl", Of(Uri)),
    opt("icons", List(&Of(Icon))),
];
/// What a model says or reads: one block or several.
const BLOCKS: Shape = Either(&[Of(SamplingContent), List(&Of(SamplingContent))]);
pub(super) const STATUS: Shape = Word(&[
    "working",
    "input_required",
    "completed",
    "failed",
    "cancelled",
]);

/// The values that can be chosen, each with its title.
const TITLED: Shape = List(&Fields(&[req("const", String), req("title", String)]));

/// A form, or where to go instead.
const ELICIT_PARAMS: Shape = Tagged(language::Tagged {
    member: "mode",
    cases: &[
        ("form", FORM),
        (
            "url",
            Fields(&[
                req("message", String),
                req("elicitationId", String),
                req("url", Of(Uri)),
                opt("task", Of(TaskMetadata)),
            ]),
        ),
    ],
    default: Some(&FORM),
    open: false,
});
const FORM: Shape = Fields(&[
    req("message", String),
    req("requestedSchema", Of(RequestedSchema)),
    opt("task", Of(TaskMetadata)),
]);

const NUMBER_FIELD: Shape = Fields(&[
    opt("title", String),
    opt("description", String),
    opt("minimum", Number),
    opt("maximum", Number),
    opt("default", Number),
]);

#[rustfmt::skip]
const TYPES: &[(Type, Change)] = &[
    object(Icon, &[
        req("src", Of(IconSource)), opt("mimeType", String), opt("sizes", List(&String)),
        opt("theme", Word(&["light", "dark"])),
    ]),
    has(Implementation, PROGRAM),
    has(ImplementationDetails, PROGRAM),
    has(Resource, ICONS),
    has(ResourceTemplate, ICONS),
    has(Prompt, ICONS),
    has(Tool, &[
        opt("icons", List(&Of(Icon))),
        opt("execution", Fields(&[
            opt("taskSupport", Word(&["forbidden", "optional", "required"])),
        ])),
    ]),
    has(ClientCapabilities, &[
        opt("sampling", Fields(&[opt("context", Object), opt("tools", Object)])),
        opt("elicitation", Fields(&[opt("form", Object), opt("url", Object)])),
        opt("tasks", Fields(&[
            opt("list", Object), opt("cancel", Object),
            opt("requests", Fields(&[
                opt("sampling", Fields(&[opt("createMessage", Object)])),
                opt("elicitation", Fields(&[opt("create", Object)])),
            ])),
        ])),
    ]),
    has(ServerCapabilities, &[
        opt("tasks", Fields(&[
            opt("list", Object), opt("cancel", Object),
            opt("requests", Fields(&[opt("tools", Fields(&[opt("call", Object)]))])),
        ])),
    ]),

    has(CallToolParams, TASK),
    has(CreateMessageParams, &[
        opt("task", Of(TaskMetadata)), opt("tools", List(&Of(Tool))),
        opt("toolChoice", Fields(&[opt("mode", Word(&["auto", "required", "none"]))])),
    ]),
    has(CreateMessageResult, &[req("content", BLOCKS)]),
    has(SamplingMessage, &[req("content", BLOCKS), opt("_meta", Of(Meta))]),
    (SamplingContent, Change::HasCases(&[
        ("tool_use", Of(ToolUseContent)), ("tool_result", Of(ToolResultContent)),
    ])),
    object(ToolUseContent, &[
        req("id", String), req("name", String), req("input", Object), opt("_meta", Of(Meta)),
    ]),
    object(ToolResultContent, &[
        req("toolUseId", String), req("content", List(&Of(ContentBlock))),
        opt("structuredContent", Object), opt("isError", Boolean), opt("_meta", Of(Meta)),
    ]),

    is(ElicitParams, ELICIT_PARAMS),
    has(RequestedSchema, &[opt("$schema", String)]),
    is(FieldValue, Either(&[String, Number, Boolean, List(&String)])),
    (PrimitiveSchema, Change::HasCases(&[
        ("string", Fields(&[
            opt("title", String), opt("description", String), opt("minLength", Integer),
            opt("maxLength", Integer), opt("default", String),
            opt("format", Word(&["email", "uri", "date", "date-time"])),
        ])),
        ("number", NUMBER_FIELD),
        ("integer", NUMBER_FIELD),
        ("array", Fields(&[
            opt("title", String), opt("description", String), opt("minItems", Integer),
            opt("maxItems", Integer), opt("default", List(&String)),
            req("items", Having(&[
                ("anyOf", Fields(&[req("anyOf", TITLED)])),
                ("enum", Fields(&[req("type", Word(&["string"])), req("enum", List(&String))])),
            ])),
        ])),
    ])),

    object(TaskMetadata, &[opt("ttl", Number)]),
    object(Task, &[
        req("taskId", String), req("status", STATUS), opt("statusMessage", String),
        req("createdAt", String), req("lastUpdatedAt", String),
        req("ttl", Either(&[Number, Null])), opt("pollInterval", Number),
    ]),
    object(CreateTaskResult, &[req("task", Of(Task))]),
    object(TaskParams, &[req("taskId", String)]),
    object(ListTasksResult, &[req("tasks", List(&Of(Task))), opt("nextCursor", String)]),
];

#[rustfmt::skip]
const METHODS: &[Method] = &[
    request("tasks/get", Of(TaskParams), Of(Task)),
    // What comes back is the result of the request that the task was made of.
    request("tasks/result", Of(TaskParams), Shape::Any),
    request("tasks/cancel", Of(TaskParams), Of(Task)),
    request("tasks/list", Of(PaginatedParams), Of(ListTasksResult)),
    notification("notifications/tasks/status", Of(Task)),
    notification("notifications/elicitation/complete", Fields(&[req("elicitationId", String)])),
];
