//! The rules of this family.

use crate::rule::{Revisions, Rule, Severity};
use crate::section;
use mcpreel_wire::mcp::Revision;

pub(super) static NOT_JSON: Rule = Rule::error("frame-not-json", "a line is no JSON text")
    .why("A peer that meets such a line reports a parse error, skips it or closes the connection.")
    .fix("Write logs and banners to stderr, and only whole messages, one per line, to stdout.")
    .of(section::STDIO);
pub(super) static TRUNCATED: Rule =
    Rule::error("frame-truncated", "the stream ends before the line does")
        .why("A line without its end is never read by the other side, so its message is lost.")
        .fix("Write the newline with the message and flush before closing the stream or exiting.")
        .of(section::STDIO);
pub(super) static SHORTENED: Rule = Rule::note(
    "frame-shortened",
    "a message that the log it was read from does not hold whole",
)
.why("What the log left out could not be checked, and what it was is not known.")
.fix("Nothing needs to be done; record the session with mcpreel to see the message whole.");
pub(super) static INVALID_UTF8: Rule = Rule::error("frame-invalid-utf8", "a line is not UTF-8")
    .why("Some peers stop reading altogether at the first byte that is not UTF-8.")
    .fix("Open both streams as UTF-8, whatever the locale says, and send binary data as base64.")
    .of(section::STDIO);
pub(super) static EMBEDDED_NEWLINE: Rule = Rule::error(
    "frame-embedded-newline",
    "one message spread over several lines",
)
.why("A message ends at the newline, so the other side reads a row of broken lines instead.")
.fix("Write each message without line breaks: turn pretty printing off.")
.of(section::STDIO);
pub(super) static CONTENT_LENGTH: Rule = Rule::error(
    "frame-content-length",
    "messages with Content-Length headers before them",
)
.why("Over stdio a message is one line without headers, so the other side cannot read any of them.")
.fix("Use a transport of an MCP SDK: a JSON-RPC library for language servers frames messages in its own way.")
.of(section::STDIO);
pub(super) static NOT_OBJECT: Rule = Rule::error(
    "frame-not-object",
    "a JSON value that is neither object nor array",
)
.why("It is JSON but no message, and peers report an error for it or close the connection.")
.fix("Find what prints a bare value to the stream and send it to stderr.")
.of(section::STDIO);
pub(super) static CRLF: Rule = Rule::note("frame-crlf", "a line ends with CR LF")
    .why("Most peers tolerate the CR, but one that splits strictly at LF keeps it as data.")
    .fix("Write to the stream in binary mode, so that no newline is translated.")
    .of(section::STDIO);
pub(super) static BLANK_LINE: Rule = Rule::note("frame-blank-line", "an empty line")
    .why("Most peers skip it, but a strict one reports a parse error.")
    .fix("End each message with exactly one newline.")
    .of(section::STDIO);
pub(super) static BOM: Rule = Rule::warning("frame-bom", "a line begins with a byte order mark")
    .why("Most JSON parsers refuse the three bytes, and with them the first message.")
    .fix("Write UTF-8 without a byte order mark.")
    .of(section::JSON);
pub(super) static OVERSIZED: Rule = Rule::warning(
    "frame-oversized",
    "a line that is longer than peers accept",
)
.why("Peers built with the TypeScript SDK close the connection above 10 MiB, and others drop lines above 16 MiB.")
.fix("Send less at once: pages, a resource link instead of the content, or a shortened text.");
pub(super) static DUPLICATE_KEY: Rule = Rule::warning(
    "frame-duplicate-key",
    "an object has the same member twice",
)
.why("Parsers differ in which of the two they take, so both sides may read different messages.")
.fix("Write each member once.")
.of(section::JSON);
pub(super) static LONE_SURROGATE: Rule = Rule::warning(
    "frame-lone-surrogate",
    "half of a character: an escaped surrogate without its other half",
)
.why("It stands for no character: strict parsers refuse the message, others replace it silently.")
.fix("Cut text between characters, not between UTF-16 units.")
.of(section::JSON);
pub(super) static DEEP_NESTING: Rule = Rule::note(
    "frame-deep-nesting",
    "nested deeper than is looked at; parsers of peers may overflow",
)
.why("What lies deeper could not be checked here, and a peer that crashes over it takes the session with it.")
.fix("Flatten the structure, or send it as text or as a resource.")
.of(section::JSON);
pub(super) static NUMBER_PRECISION: Rule = Rule::note(
    "frame-number-precision",
    "a number that does not survive in a double",
)
.why("Peers written in JavaScript read another number, and an id that changes is never matched.")
.fix("Send integers beyond 2^53 as strings.")
.of(section::JSON);
pub(super) static OUTLINE_ONLY: Rule = Rule::note(
    "frame-outline-only",
    "a very long line of which only the outline was looked at",
)
.why("Rules about values inside the message could not be checked for it.")
.fix("Nothing needs to be done, but a shorter message would be checked whole.");
pub(super) static BATCH_EMPTY: Rule = Rule::error("batch-empty", "an empty batch")
    .why("An empty array holds no message, and the answer to it is an error.")
    .fix("Send nothing when there is nothing to send.")
    .of(section::JSONRPC_BATCH);
pub(super) static BATCH_TOO_LONG: Rule = Rule::warning(
    "batch-too-long",
    "a batch of more messages than are looked at",
)
.why("What stands in the rest of the batch was neither paired nor checked.")
.fix("Split the batch into smaller ones.")
.of(section::JSONRPC_BATCH);
pub(super) static BATCH_NOT_ALLOWED: Rule = Rule::error(
    "batch-not-allowed",
    "a batch, in a revision that has none",
)
.why("Only 2025-03-26 has batches: peers of other revisions refuse or ignore the whole array.")
.fix("Send each message on a line of its own.")
.of(section::STDIO)
.only(Revisions::ALL.without(Revision::V2025_03_26))
.milder_in(
    Severity::Warning,
    Revisions::between(Revision::V2024_11_05, Revision::V2024_11_05),
);
pub(super) static BATCH_INITIALIZE: Rule =
    Rule::error("batch-contains-initialize", "`initialize` inside a batch")
        .why("Before the handshake nobody knows whether the other side takes batches at all.")
        .fix("Send `initialize` alone and wait for its answer.")
        .of(section::LIFECYCLE)
        .only(Revisions::between(
            Revision::V2025_03_26,
            Revision::V2025_03_26,
        ));
pub(super) static STDERR_JSONRPC: Rule = Rule::warning(
    "stderr-jsonrpc",
    "a message of the server on stderr",
)
.why("The client reads messages from stdout only, so it waits for this one until it gives up.")
.fix("Write protocol messages to stdout and logs to stderr; check which stream was handed to the transport.")
.of(section::STDIO);
pub(super) static CONTROL_CHARACTERS: Rule = Rule::warning(
    "text-control-characters",
    "control characters in a text that people or models are shown",
)
.why("Escape sequences can move the cursor, recolour or rewrite what a terminal shows.")
.fix("Strip control characters from names, titles, descriptions and messages before sending them.");
pub(super) static HIDDEN_UNICODE: Rule = Rule::warning(
    "text-hidden-unicode",
    "invisible characters in a text that people or models are shown",
)
.why("A model reads characters that a person does not see: instructions can hide in them.")
.fix("Remove invisible and direction-changing characters, and ask where they came from.");
