//! A schema that is ready to check values.

use super::cost::{Allowed, Costs, Profile, SCHEMA_LEVELS, VALUE_LEVELS};
use super::dialect::{Judged, dialect, judge};
use super::pattern::STEPS;
use super::plan::Plan;
use super::skipped::Skipped;
use crate::lint::quote;
use crate::protocol::json::Step;
use crate::protocol::mcp::Revision;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// Violations of one value that are told. More of the same would help nobody.
const TOLD: usize = 3;

/// Bytes that a compiled regular expression and its cache may take. Without a limit one
/// expression could take tens of megabytes.
const EXPRESSION_BYTES: usize = 1 << 20;

/// What a value does wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The steps from the value that was checked to what is wrong in it.
    pub path: Vec<Step>,
    /// What is wrong there, escaped.
    pub message: String,
}

/// A schema that is ready to check values.
#[derive(Debug)]
pub struct Checker {
    validator: Validator,
    costs: Costs,
}

impl Checker {
    /// Compiles `schema`, as tools of `revision` have it.
    pub fn new(schema: &Value, revision: Revision) -> Result<Self, Skipped> {
        let plan = plan(schema)?;
        plan.usable()?;
        let costs = Costs::of(&plan)?;
        let draft = dialect(schema, revision)?;
        if !matches!(judge(schema, revision)?, Judged::Valid) {
            return Err(Skipped::Invalid);
        }
        let expressions = PatternOptions::fancy_regex()
            .backtrack_limit(STEPS)
            .size_limit(EXPRESSION_BYTES)
            .dfa_size_limit(EXPRESSION_BYTES);
        // Formats and encodings are hints in the current dialect, and peers differ about them.
        let options = jsonschema::options()
            .with_draft(draft)
            .offline()
            .should_validate_formats(false)
            .without_content_encoding_support("base64")
            .without_content_media_type_support("application/json")
            .with_pattern_options(expressions);
        match options.build(schema) {
            Ok(validator) => Ok(Self { validator, costs }),
            Err(error) => Err(match error.kind() {
                ValidationErrorKind::Format { .. } | ValidationErrorKind::Pattern { .. } => {
                    Skipped::Pattern
                }
                ValidationErrorKind::Referencing(_) => Skipped::Dangling,
                _ => Skipped::Invalid,
            }),
        }
    }

    /// What `value` does wrong: nothing, or the first few things.
    pub fn check(&self, value: &Value) -> Result<Vec<Violation>, Skipped> {
        let allowed = self.costs.allow(&Profile::of(value, VALUE_LEVELS)?)?;
        if self.validator.is_valid(value) {
            return Ok(Vec::new());
        }
        if allowed == Allowed::Verdict {
            return Ok(vec![Violation {
                path: Vec::new(),
                message: "value does not fit; finding out where would take too long".to_owned(),
            }]);
        }
        let mut violations = Vec::new();
        let errors: Box<dyn Iterator<Item = _>> = match allowed {
            Allowed::First => Box::new(self.validator.validate(value).err().into_iter()),
            _ => Box::new(self.validator.iter_errors(value).take(TOLD)),
        };
        for error in errors {
            if is_undecided(&error) {
                return Err(Skipped::Costly);
            }
            violations.push(violation(&error, value));
        }
        Ok(violations)
    }
}

/// The graph of a schema that is not too deep for whoever looks at it recursively.
pub fn plan(schema: &Value) -> Result<Plan, Skipped> {
    if Profile::of(schema, SCHEMA_LEVELS).is_err() {
        return Err(Skipped::DeepSchema);
    }
    Ok(Plan::of(schema))
}

/// Whether an expression was given up, so that nobody knows.
fn is_undecided(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
    )
}

/// What `error` says about `root`.
pub fn violation(error: &ValidationError<'_>, root: &Value) -> Violation {
    Violation {
        path: steps(error.instance_path().as_str(), root),
        message: quote::text(&error.masked().to_string()),
    }
}

/// The steps of a JSON pointer into `root`: what is a number may be a name as well.
fn steps(pointer: &str, root: &Value) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = Some(root);
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        let index: Option<usize> = at.filter(|value| value.is_array()).and(name.parse().ok());
        if let Some(index) = index {
            at = at.and_then(|value| value.get(index));
            steps.push(Step::Element(index));
        } else {
            at = at.and_then(|value| value.get(name.as_str()));
            steps.push(Step::Member(name.into()));
        }
    }
    steps
}
