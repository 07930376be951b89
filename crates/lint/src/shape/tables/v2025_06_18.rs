//! Revision 2025-06-18: elicitation, titles, links to resources, `_meta` in many places.

use super::v2024_11_05::STRINGS;
use crate::shape::language::Shape::{
    Boolean, Either, Fields, Integer, List, Map, Number, Of, String, Word,
};
use crate::shape::language::{
    Change, Field, Method, Shape, Table, has, is, object, opt, req, request, tagged,
};
use crate::shape::types::Type::{self, *};

pub(super) const TABLE: Table = Table {
    types: TYPES,
    methods: METHODS,
};

const META: &[Field] = &[opt("_meta", Of(Meta))];
const TITLE: &[Field] = &[opt("title", String)];
const TITLE_AND_META: &[Field] = &[opt("title", String), opt("_meta", Of(Meta))];

const NUMBER_FIELD: Shape = Fields(&[
    opt("title", String),
    opt("description", String),
    opt("minimum", Number),
    opt("maximum", Number),
]);

#[rustfmt::skip]
const TYPES: &[(Type, Change)] = &[
    has(Annotations, &[opt("lastModified", String)]),
    has(ClientCapabilities, &[opt("elicitation", Fields(&[]))]),
    has(Implementation, TITLE),
    has(ImplementationDetails, TITLE),
    has(PromptArgument, TITLE),
    has(Resource, TITLE_AND_META),
    has(ResourceTemplate, TITLE_AND_META),
    has(ResourceContents, META),
    has(Prompt, TITLE_AND_META),
    has(Tool, TITLE_AND_META),
    has(TextContent, META),
    has(ImageContent, META),
    has(AudioContent, META),
    has(EmbeddedResource, META),
    has(Root, META),
    is(ResourceLink, Of(Resource)),
    (ContentBlock, Change::HasCases(&[("resource_link", Of(ResourceLink))])),
    (Reference, Change::HasCases(&[
        ("ref/prompt", Fields(&[req("name", String), opt("title", String)])),
    ])),
    has(CompleteParams, &[opt("context", Fields(&[opt("arguments", STRINGS)]))]),

    object(ElicitParams, &[
        req("message", String), req("requestedSchema", Of(RequestedSchema)),
    ]),
    object(ElicitResult, &[
        req("action", Word(&["accept", "decline", "cancel"])),
        opt("content", Map(&Of(FieldValue))),
    ]),
    object(RequestedSchema, &[
        req("type", Word(&["object"])), req("properties", Map(&Of(PrimitiveSchema))),
        opt("required", List(&String)),
    ]),
    is(PrimitiveSchema, tagged("type", &[
        ("string", Fields(&[
            opt("title", String), opt("description", String), opt("minLength", Integer),
            opt("maxLength", Integer),
            opt("format", Word(&["email", "uri", "date", "date-time"])),
        ])),
        ("number", NUMBER_FIELD),
        ("integer", NUMBER_FIELD),
        ("boolean", Fields(&[
            opt("title", String), opt("description", String), opt("default", Boolean),
        ])),
    ])),
    // The schema that is generated from the published types wants integers here, a mistake.
    is(FieldValue, Either(&[String, Number, Boolean])),
];

#[rustfmt::skip]
const METHODS: &[Method] = &[
    request("elicitation/create", Of(ElicitParams), Of(ElicitResult)),
];
