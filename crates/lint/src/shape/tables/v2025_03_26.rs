//! Revision 2025-03-26: audio, hints about tools, completions as a capability, words for progress.

use crate::shape::language::Shape::{Boolean, Object, Of, String};
use crate::shape::language::{Case, Change, Table, has, object, opt, req};
use crate::shape::types::Type::{self, *};

pub(super) const TABLE: Table = Table {
    types: TYPES,
    methods: &[],
};

const AUDIO: &[Case] = &[("audio", Of(AudioContent))];

#[rustfmt::skip]
const TYPES: &[(Type, Change)] = &[
    object(AudioContent, &[
        req("data", Of(Base64)), req("mimeType", String), opt("annotations", Of(Annotations)),
    ]),
    (ContentBlock, Change::HasCases(AUDIO)),
    (SamplingContent, Change::HasCases(AUDIO)),
    has(ServerCapabilities, &[opt("completions", Object)]),
    has(ProgressParams, &[opt("message", String)]),
    has(Tool, &[opt("annotations", Of(ToolAnnotations))]),
    object(ToolAnnotations, &[
        opt("title", String), opt("readOnlyHint", Boolean), opt("destructiveHint", Boolean),
        opt("idempotentHint", Boolean), opt("openWorldHint", Boolean),
    ]),
];
