//! Revision 2024-11-05.
//!
//! Left open, because rules of their own look there: what a handshake must say, the schemas of
//! tools, `isError`, `structuredContent`, progress tokens.

use crate::shape::language::Shape::{
    Any, Boolean, Fields, Integer, List, Map, Number, Object, Of, Share, String, WhereObject, Word,
};
use crate::shape::language::{Case, Change, Shape};
use crate::shape::language::{Method, Table, is, notification, object, opt, req, request, tagged};
use crate::shape::types::Type::{self, *};
use mcpreel_wire::mcp::levels::LEVELS;

pub(super) const ID: Shape = Shape::Either(&[String, Integer]);
pub(super) const STRINGS: Shape = Map(&String);
const LIST_CHANGED: Shape = Fields(&[opt("listChanged", Boolean)]);
pub(super) const TABLE: Table = Table {
    types: TYPES,
    methods: METHODS,
};

/// What a block of content is, by its `type`.
const CONTENT: &[Case] = &[
    ("text", Of(TextContent)),
    ("image", Of(ImageContent)),
    ("resource", Of(EmbeddedResource)),
];

#[rustfmt::skip]
const TYPES: &[(Type, Change)] = &[
    object(RequestParams, &[opt("_meta", Of(RequestMeta))]),
    object(NotificationParams, &[opt("_meta", Of(NotificationMeta))]),
    object(Result, &[opt("_meta", Of(ResultMeta))]),
    is(RequestMeta, Fields(&[])),
    is(NotificationMeta, Fields(&[])),
    is(ResultMeta, Fields(&[])),
    is(Meta, Fields(&[])),

    is(Base64, String),
    is(Uri, String),
    is(UriTemplate, String),
    is(RootUri, String),
    is(IconSource, String),
    is(CompletionValues, List(&String)),

    object(Implementation, &[req("name", String), req("version", String)]),
    is(ImplementationDetails, Fields(&[])),
    object(ClientCapabilities, &[
        opt("experimental", Map(&Object)),
        opt("roots", LIST_CHANGED),
        opt("sampling", Fields(&[])),
    ]),
    object(ServerCapabilities, &[
        opt("experimental", Map(&Object)),
        opt("logging", Object),
        opt("prompts", LIST_CHANGED),
        opt("resources", Fields(&[opt("subscribe", Boolean), opt("listChanged", Boolean)])),
        opt("tools", LIST_CHANGED),
    ]),
    object(Annotations, &[opt("audience", List(&Of(Role))), opt("priority", Share)]),
    is(Role, Word(&["user", "assistant"])),
    is(LoggingLevel, Word(&LEVELS)),
    object(PaginatedParams, &[opt("cursor", String)]),
    object(ResourceParams, &[req("uri", Of(Uri))]),

    object(InitializeParams, &[
        opt("capabilities", WhereObject(&Of(ClientCapabilities))),
        opt("clientInfo", WhereObject(&Of(ImplementationDetails))),
    ]),
    object(InitializeResult, &[
        opt("capabilities", WhereObject(&Of(ServerCapabilities))),
        opt("serverInfo", WhereObject(&Of(ImplementationDetails))),
        opt("instructions", String),
    ]),
    object(CancelledParams, &[req("requestId", ID), opt("reason", String)]),
    object(ProgressParams, &[
        req("progressToken", Any), req("progress", Number), opt("total", Number),
    ]),

    object(Resource, &[
        req("uri", Of(Uri)), req("name", String), opt("description", String),
        opt("mimeType", String), opt("size", Integer), opt("annotations", Of(Annotations)),
    ]),
    object(ResourceTemplate, &[
        req("uriTemplate", Of(UriTemplate)), req("name", String), opt("description", String),
        opt("mimeType", String), opt("annotations", Of(Annotations)),
    ]),
    object(ResourceContents, &[
        req("uri", Of(Uri)), opt("mimeType", String), opt("text", String), opt("blob", Of(Base64)),
    ]),
    object(ListResourcesResult, &[
        req("resources", List(&Of(Resource))), opt("nextCursor", String),
    ]),
    object(ListResourceTemplatesResult, &[
        req("resourceTemplates", List(&Of(ResourceTemplate))), opt("nextCursor", String),
    ]),
    object(ReadResourceResult, &[req("contents", List(&Of(ResourceContents)))]),

    object(Prompt, &[
        req("name", String), opt("description", String),
        opt("arguments", List(&Of(PromptArgument))),
    ]),
    object(PromptArgument, &[
        req("name", String), opt("description", String), opt("required", Boolean),
    ]),
    object(PromptMessage, &[req("role", Of(Role)), req("content", Of(ContentBlock))]),
    object(ListPromptsResult, &[req("prompts", List(&Of(Prompt))), opt("nextCursor", String)]),
    object(GetPromptParams, &[req("name", String), opt("arguments", STRINGS)]),
    object(GetPromptResult, &[
        opt("description", String), req("messages", List(&Of(PromptMessage))),
    ]),

    object(Tool, &[req("name", String), opt("description", String)]),
    object(ListToolsResult, &[req("tools", List(&Of(Tool))), opt("nextCursor", String)]),
    object(CallToolParams, &[req("name", String), opt("arguments", Object)]),
    object(CallToolResult, &[req("content", List(&Of(ContentBlock)))]),

    is(ContentBlock, tagged("type", CONTENT)),
    object(TextContent, &[req("text", String), opt("annotations", Of(Annotations))]),
    object(ImageContent, &[
        req("data", Of(Base64)), req("mimeType", String), opt("annotations", Of(Annotations)),
    ]),
    object(EmbeddedResource, &[
        req("resource", Of(ResourceContents)), opt("annotations", Of(Annotations)),
    ]),

    object(CreateMessageParams, &[
        req("messages", List(&Of(SamplingMessage))), req("maxTokens", Integer),
        opt("modelPreferences", Of(ModelPreferences)), opt("systemPrompt", String),
        opt("includeContext", Word(&["none", "thisServer", "allServers"])),
        opt("temperature", Number), opt("stopSequences", List(&String)), opt("metadata", Object),
    ]),
    object(CreateMessageResult, &[
        req("role", Of(Role)), req("content", Of(SamplingContent)), req("model", String),
        opt("stopReason", String),
    ]),
    object(SamplingMessage, &[req("role", Of(Role)), req("content", Of(SamplingContent))]),
    is(SamplingContent, tagged("type", &[
        ("text", Of(TextContent)), ("image", Of(ImageContent)),
    ])),
    object(ModelPreferences, &[
        opt("hints", List(&Fields(&[opt("name", String)]))), opt("costPriority", Share),
        opt("speedPriority", Share), opt("intelligencePriority", Share),
    ]),

    object(CompleteParams, &[
        req("ref", Of(Reference)),
        req("argument", Fields(&[req("name", String), req("value", String)])),
    ]),
    object(CompleteResult, &[
        req("completion", Fields(&[
            req("values", Of(CompletionValues)), opt("total", Integer), opt("hasMore", Boolean),
        ])),
    ]),
    is(Reference, tagged("type", &[
        ("ref/prompt", Fields(&[req("name", String)])),
        ("ref/resource", Fields(&[req("uri", Of(UriTemplate))])),
    ])),

    object(SetLevelParams, &[req("level", Of(LoggingLevel))]),
    object(LoggingMessageParams, &[
        req("level", Of(LoggingLevel)), req("data", Any), opt("logger", String),
    ]),

    object(Root, &[req("uri", Of(RootUri)), opt("name", String)]),
    object(ListRootsResult, &[req("roots", List(&Of(Root)))]),
];

#[rustfmt::skip]
const METHODS: &[Method] = &[
    request("initialize", Of(InitializeParams), Of(InitializeResult)),
    request("ping", Any, Any),
    request("tools/list", Of(PaginatedParams), Of(ListToolsResult)),
    request("tools/call", Of(CallToolParams), Of(CallToolResult)),
    request("resources/list", Of(PaginatedParams), Of(ListResourcesResult)),
    request("resources/templates/list", Of(PaginatedParams), Of(ListResourceTemplatesResult)),
    request("resources/read", Of(ResourceParams), Of(ReadResourceResult)),
    request("resources/subscribe", Of(ResourceParams), Any),
    request("resources/unsubscribe", Of(ResourceParams), Any),
    request("prompts/list", Of(PaginatedParams), Of(ListPromptsResult)),
    request("prompts/get", Of(GetPromptParams), Of(GetPromptResult)),
    request("completion/complete", Of(CompleteParams), Of(CompleteResult)),
    request("logging/setLevel", Of(SetLevelParams), Any),
    request("sampling/createMessage", Of(CreateMessageParams), Of(CreateMessageResult)),
    request("roots/list", Any, Of(ListRootsResult)),
    notification("notifications/initialized", Any),
    notification("notifications/cancelled", Of(CancelledParams)),
    notification("notifications/progress", Of(ProgressParams)),
    notification("notifications/message", Of(LoggingMessageParams)),
    notification("notifications/tools/list_changed", Any),
    notification("notifications/prompts/list_changed", Any),
    notification("notifications/resources/list_changed", Any),
    notification("notifications/resources/updated", Of(ResourceParams)),
    notification("notifications/roots/list_changed", Any),
];
