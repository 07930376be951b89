//! By which dialect of JSON Schema a schema is read, and whether it is one.

use super::check::{Violation, violation};
use super::skipped::Skipped;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, ValidationError, draft4, draft6, draft7, draft201909, draft202012};
use jsonschema_value::SerdeJson;
use mcpreel_wire::mcp::Revision;
use serde_json::Value;

/// The dialect that `$schema` names; where it names none, that of the revision, which says so
/// from 2025-11-25 on and where everybody took draft-07 before.
pub fn dialect(schema: &Value, revision: Revision) -> Result<Draft, Skipped> {
    let default = if revision < Revision::V2025_11_25 {
        Draft::Draft7
    } else {
        Draft::Draft202012
    };
    match default.detect(schema) {
        Draft::Unknown => Err(Skipped::UnknownDialect),
        known => Ok(known),
    }
}

#[derive(Debug)]
pub enum Judged {
    Valid,
    /// It is none of its dialect: what is wrong, and where.
    Invalid(Violation),
    /// It is none of the dialect that is meant where nothing is said; the revision does not say
    /// which that is.
    Doubtful(Violation),
}

/// Whether `schema` is a schema of its dialect. To be asked only of what has a usable
/// [`Plan`](super::Plan): the expressions in it are compiled.
pub fn judge(schema: &Value, revision: Revision) -> Result<Judged, Skipped> {
    let draft = dialect(schema, revision)?;
    let Err(error) = validate(schema, draft) else {
        return Ok(Judged::Valid);
    };
    // An expression that this engine does not understand may be one for another engine.
    if matches!(error.kind(), ValidationErrorKind::Format { .. }) {
        return Ok(Judged::Valid);
    }
    let violation = violation::<SerdeJson>(&error, schema);
    if revision >= Revision::V2025_11_25 || schema.get("$schema").is_some() {
        return Ok(Judged::Invalid(violation));
    }
    if validate(schema, Draft::Draft202012).is_ok() {
        return Ok(Judged::Valid);
    }
    Ok(Judged::Doubtful(violation))
}

fn validate(schema: &Value, draft: Draft) -> Result<(), ValidationError<'_>> {
    match draft {
        Draft::Draft4 => draft4::meta::validate(schema),
        Draft::Draft6 => draft6::meta::validate(schema),
        Draft::Draft7 => draft7::meta::validate(schema),
        Draft::Draft201909 => draft201909::meta::validate(schema),
        _ => draft202012::meta::validate(schema),
    }
}
