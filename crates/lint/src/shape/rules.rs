//! The rules of this family.

use crate::rule::{Revisions, Rule};
use crate::section;
use mcpreel_wire::mcp::Revision;

pub(super) static PARAMS_INVALID: Rule = Rule::error(
    "schema-params-invalid",
    "`params` of a request that are not what its method asks for",
)
.why("A receiver that checks its input refuses the request, and one that does not may act on a value that is not there.")
.fix("Send the member at this path as the schema of the revision describes it.")
.of(section::SCHEMA);

pub(super) static RESULT_INVALID: Rule = Rule::error(
    "schema-result-invalid",
    "a `result` that is not what its method promises",
)
.why("Clients with typed messages drop the whole answer, so that one wrong member looks like a tool or a list that never came.")
.fix("Return the member at this path as the schema of the revision describes it.")
.of(section::SCHEMA);

pub(super) static NOTIFICATION_INVALID: Rule = Rule::error(
    "schema-notification-invalid",
    "`params` of a notification that are not what its method says",
)
.why("Nobody answers a notification, so whoever cannot read it drops it without a word.")
.fix("Send the member at this path as the schema of the revision describes it.")
.of(section::SCHEMA);

pub(super) static ELICIT_SCHEMA_NESTED: Rule = Rule::error(
    "elicit-schema-nested",
    "a form whose schema is more than a flat object of plain fields",
)
.why("Clients build a form from this schema and can only show text, numbers, switches and choices, so the user may never be asked.")
.fix("Describe each field by one plain type without nesting, unions or `null`, and ask several times if one form is not enough.")
.of(section::ELICITATION)
.only(Revisions::since(Revision::V2025_06_18));

pub(super) static BASE64_INVALID: Rule =
    Rule::error("base64-invalid", "binary data that is no base64")
        .why("The client cannot decode the image, the sound or the file, and shows nothing or fails.")
        .fix("Encode the bytes with the standard alphabet, with padding, without line breaks and without a `data:` prefix.")
        .of(section::BASE64);

pub(super) static RESOURCE_CONTENTS_SHAPE: Rule = Rule::error(
    "resource-contents-shape",
    "contents of a resource that have both or none of `text` and `blob`",
)
.why("The client cannot tell what the resource holds: there is nothing to show, or two things that may differ.")
.fix("Give each item either `text` or `blob`.")
.of(section::RESOURCES);

pub(super) static ROOT_URI_NOT_FILE: Rule =
    Rule::error("root-uri-not-file", "a root that is no `file://` URI")
        .why("Servers take roots for directories of this machine, and cannot open anything else.")
        .fix("Send the root as an absolute `file://` URI.")
        .of(section::ROOTS);

pub(super) static URI_INVALID: Rule =
    Rule::warning("uri-invalid", "a URI or a template for URIs that breaks its grammar")
        .why("Peers that parse the URI reject it or read something else, so the resource cannot be found.")
        .fix("Begin the URI with a scheme and percent-encode spaces and other reserved characters; close every brace of a template.")
        .of(section::URI);

pub(super) static ICON_SRC_UNSAFE: Rule = Rule::warning(
    "icon-src-unsafe",
    "an icon that is neither a web address nor a `data:` URI",
)
.why("Clients must not load icons of other schemes, because scripts and local files could hide behind them.")
.fix("Serve the icon by `https:`, or put it into a `data:` URI.")
.of(section::ICONS)
.only(Revisions::since(Revision::V2025_11_25));

pub(super) static META_KEY_INVALID: Rule = Rule::warning(
    "meta-key-invalid",
    "a key of `_meta` that breaks the grammar of keys",
)
.why("Peers may reject or drop metadata whose key they cannot parse.")
.fix(
    "Name it `prefix/name`, the prefix a domain in reverse, or a plain name of letters and digits.",
)
.of(section::META)
.only(Revisions::since(Revision::V2025_06_18));

pub(super) static META_RESERVED_KEY: Rule = Rule::warning(
    "meta-reserved-key",
    "a key of `_meta` under a prefix of the protocol's own that it does not define",
)
.why("A later revision may give the key a meaning, and then your value is read as something else.")
.fix("Use a prefix of a domain that is yours.")
.of(section::META)
.only(Revisions::since(Revision::V2025_06_18));

pub(super) static META_TRACE_CONTEXT: Rule = Rule::warning(
    "meta-trace-context",
    "trace context in `_meta` that breaks its grammar",
)
.why("The receiver starts a trace of its own, and the two halves of the call are never seen together.")
.fix("Write what your tracing library gives out for W3C Trace Context or W3C Baggage, unchanged.")
.of(section::TRACE_CONTEXT);

pub(super) static COMPLETION_TOO_MANY: Rule = Rule::error(
    "completion-too-many",
    "more than 100 values in one completion",
)
.why("Clients that check the answer drop it, and nothing is completed.")
.fix("Return the 100 best values and say with `total` and `hasMore` that there are others.")
.of(section::COMPLETION);

pub(super) static RULES: &[&Rule] = &[
    &PARAMS_INVALID,
    &RESULT_INVALID,
    &NOTIFICATION_INVALID,
    &ELICIT_SCHEMA_NESTED,
    &BASE64_INVALID,
    &RESOURCE_CONTENTS_SHAPE,
    &ROOT_URI_NOT_FILE,
    &URI_INVALID,
    &ICON_SRC_UNSAFE,
    &META_KEY_INVALID,
    &META_RESERVED_KEY,
    &META_TRACE_CONTEXT,
    &COMPLETION_TOO_MANY,
];
