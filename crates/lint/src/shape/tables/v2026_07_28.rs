//! Revision 2026-07-28: no handshake, input rounds instead of requests of the server, listen
//! streams, tasks as an extension.
//!
//! Left open, because rules of their own look there: what every request and result must say about
//! itself, caching hints, which kinds of requests a server may ask for, subscription ids.

use super::v2025_11_25::STATUS;
use crate::shape::language::Shape::{
    Any, Boolean, Either, Fields, Having, List, Map, Null, Number, Object, Of, String, WhereObject,
};
use crate::shape::language::{
    Change, Field, Method, Shape, Table, Tagged, has, is, notification, object, opt, req, request,
};
use crate::shape::types::Type::{self, *};
use mcpreel_wire::mcp::keys;

pub(super) const TABLE: Table = Table {
    types: TYPES,
    methods: METHODS,
};

const RETRY: &[Field] = &[
    opt("inputResponses", Map(&Of(InputResponse))),
    opt("requestState", String),
];
const FORM: Shape = Fields(&[
    req("message", String),
    req("requestedSchema", Of(RequestedSchema)),
]);
const ELICIT_PARAMS: Shape = Shape::Tagged(Tagged {
    member: "mode",
    cases: &[
        ("form", FORM),
        (
            "url",
            Fields(&[req("message", String), req("url", Of(Uri))]),
        ),
    ],
    default: Some(&FORM),
    open: false,
});
const INPUT_REQUEST: Shape = Shape::Tagged(Tagged {
    member: "method",
    cases: &[
        (
            "elicitation/create",
            Fields(&[req("params", Of(ElicitParams))]),
        ),
        (
            "sampling/createMessage",
            Fields(&[req("params", Of(CreateMessageParams))]),
        ),
        (
            "roots/list",
            Fields(&[opt("params", Fields(&[opt("_meta", Of(Meta))]))]),
        ),
    ],
    default: Some(&Any),
    open: true,
});
/// What tasks have besides, by their status.
const BY_STATUS: Shape = Shape::Tagged(Tagged {
    member: "status",
    cases: &[
        (
            "input_required",
            Fields(&[req("inputRequests", Map(&Of(InputRequest)))]),
        ),
        ("completed", Fields(&[req("result", Object)])),
        ("failed", Fields(&[req("error", ERROR)])),
    ],
    default: Some(&Any),
    open: true,
});
const ERROR: Shape = Fields(&[req("code", Shape::Integer), req("message", String)]);

#[rustfmt::skip]
const TYPES: &[(Type, Change)] = &[
    has(RequestMeta, &[
        opt(keys::CLIENT_INFO, Of(Implementation)),
        opt(keys::CLIENT_CAPABILITIES, WhereObject(&Of(ClientCapabilities))),
        opt(keys::LOG_LEVEL, Of(LoggingLevel)),
    ]),
    has(ResultMeta, &[opt(keys::SERVER_INFO, Of(Implementation))]),
    object(ClientCapabilities, &[
        opt("experimental", Map(&Object)), opt("extensions", Map(&Object)),
        opt("roots", Object),
        opt("sampling", Fields(&[opt("context", Object), opt("tools", Object)])),
        opt("elicitation", Fields(&[opt("form", Object), opt("url", Object)])),
    ]),
    has(ServerCapabilities, &[opt("extensions", Map(&Object)), opt("tasks", Any)]),
    object(DiscoverResult, &[
        req("supportedVersions", List(&String)), req("capabilities", Of(ServerCapabilities)),
        opt("instructions", String),
    ]),

    has(Tool, &[opt("execution", Any)]),
    object(CallToolParams, &[
        req("name", String), opt("arguments", Object),
        opt("inputResponses", Map(&Of(InputResponse))), opt("requestState", String),
    ]),
    has(GetPromptParams, RETRY),
    object(RetryParams, &[
        req("uri", Of(Uri)),
        opt("inputResponses", Map(&Of(InputResponse))), opt("requestState", String),
    ]),
    object(InputRequiredResult, &[
        opt("inputRequests", Map(&Of(InputRequest))), opt("requestState", String),
    ]),
    is(InputRequest, INPUT_REQUEST),
    is(InputResponse, Having(&[
        ("action", Of(ElicitResult)),
        ("roots", Of(ListRootsResult)),
        ("model", Of(CreateMessageResult)),
    ])),
    is(ElicitParams, ELICIT_PARAMS),
    has(CreateMessageParams, &[opt("task", Any)]),
    has(ToolResultContent, &[opt("structuredContent", Any)]),

    object(SubscriptionFilter, &[
        opt("toolsListChanged", Boolean), opt("promptsListChanged", Boolean),
        opt("resourcesListChanged", Boolean), opt("resourceSubscriptions", List(&Of(Uri))),
        opt("taskIds", List(&String)),
    ]),
    object(SubscriptionParams, &[req("notifications", Of(SubscriptionFilter))]),

    object(Task, &[
        req("taskId", String), req("status", STATUS), opt("statusMessage", String),
        req("createdAt", String), req("lastUpdatedAt", String),
        req("ttlMs", Either(&[Number, Null])), opt("pollIntervalMs", Number),
    ]),
    is(DetailedTask, Shape::All(&[Of(Task), BY_STATUS])),
    is(CreateTaskResult, Of(Task)),
    object(UpdateTaskParams, &[
        req("taskId", String), req("inputResponses", Map(&Of(InputResponse))),
    ]),
];

#[rustfmt::skip]
const METHODS: &[Method] = &[
    request("server/discover", Any, Of(DiscoverResult)),
    request("resources/read", Of(RetryParams), Of(ReadResourceResult)),
    request("subscriptions/listen", Of(SubscriptionParams), Any),
    request("tasks/get", Of(TaskParams), Of(DetailedTask)),
    request("tasks/update", Of(UpdateTaskParams), Any),
    request("tasks/cancel", Of(TaskParams), Any),
    notification("notifications/subscriptions/acknowledged", Of(SubscriptionParams)),
    notification("notifications/tasks", Of(DetailedTask)),
];
