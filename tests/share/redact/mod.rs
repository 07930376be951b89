//! Redaction: nothing secret leaves, and nothing else changes.
//!
//! * [`corpus`]: secrets that are planted (`planted/*.toml`), and what looks alike (`alike/*.toml`);
//! * [`engine`]: the corpus through the engine;
//! * [`coded`]: a value that is known, in base64 and in hex digits;
//! * [`numbers`]: tokens that do not depend on the form, the format or the selection;
//! * [`twice`]: what is redacted is not redacted again;
//! * [`leaving`]: the corpus through the program, in every form in which traffic leaves it;
//! * [`trees`]: source code that everybody has stays as it is;
//! * [`recording`]: a redacted recording is the recording that it was made of, but for that;
//! * [`redact_scan`]: leaks in files of any kind;
//! * [`again`]: a redacted recording is replayed and served with the secrets that are supplied;
//! * [`redact_hostile`]: whatever is said to mislead it.

mod again;
mod classes;
mod coded;
mod corpus;
mod engine;
mod leaving;
mod numbers;
mod recording;
mod redact_hostile;
mod redact_made;
mod redact_scan;
mod trees;
mod twice;
mod ways;
