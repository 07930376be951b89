//! A schema that is ready to check values.

use super::cost::{Allowed, Costs};
use super::dialect::{Judged, dialect, judge};
use super::instance::Instance;
use super::nodes::Cells;
use super::pattern::STEPS;
use super::plan::Plan;
use super::skipped::Skipped;
use crate::quote;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use jsonschema_value::{Array, Json, Node, Object};
use mcpreel_wire::json::{Document, Step, Value};
use mcpreel_wire::mcp::Revision;

/// Violations of one value that are told. More of the same would help nobody.
const TOLD: usize = 3;

/// Levels of a schema's own text. Compiling is recursive, as checks are.
const SCHEMA_LEVELS: usize = 64;

/// Bytes that a compiled regular expression and its cache may take. Without a limit one
/// expression could take tens of megabytes.
const EXPRESSION_BYTES: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The steps from the value that was checked to what is wrong in it.
    pub path: Vec<Step>,
    pub message: String,
}

/// A schema that is ready to check values.
#[derive(Debug)]
pub struct Checker {
    validator: Validator<Cells>,
    costs: Costs,
}

impl Checker {
    /// Compiles `schema`, as tools of `revision` have it.
    pub fn new(schema: &serde_json::Value, revision: Revision) -> Result<Self, Skipped> {
        let plan = plan(schema)?;
        plan.usable()?;
        let costs = Costs::of(&plan)?;
        let draft = dialect(schema, revision)?;
        if !matches!(judge(schema, revision)?, Judged::Valid) {
            return Err(Skipped::Invalid);
        }
        match compile(schema, draft) {
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
    pub fn check(&self, value: Value<'_>) -> Result<Vec<Violation>, Skipped> {
        if let Some(instance) = Instance::read(value) {
            return self.look(&instance);
        }
        // Now it is known whether it can be represented, and of each name the last one counts.
        let text = super::value(value.raw())?.to_string();
        let document = Document::parse(text.as_bytes()).map_err(|_| Skipped::Unreadable)?;
        let instance = Instance::read(document.root()).ok_or(Skipped::DeepValue)?;
        self.look(&instance)
    }

    fn look(&self, instance: &Instance<'_>) -> Result<Vec<Violation>, Skipped> {
        let root = instance.root();
        let allowed = self.costs.allow(&instance.profile)?;
        if self.validator.is_valid(root) {
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
            Allowed::First => Box::new(self.validator.validate(root).err().into_iter()),
            _ => Box::new(self.validator.iter_errors(root).take(TOLD)),
        };
        for error in errors {
            if is_undecided(&error) {
                return Err(Skipped::Costly);
            }
            violations.push(violation::<Cells>(&error, root));
        }
        Ok(violations)
    }
}

/// The validator of `schema` for values of the representation `F`.
pub(super) fn compile<F: Json>(
    schema: &serde_json::Value,
    draft: Draft,
) -> Result<Validator<F>, ValidationError<'static>> {
    let expressions = PatternOptions::fancy_regex()
        .backtrack_limit(STEPS)
        .size_limit(EXPRESSION_BYTES)
        .dfa_size_limit(EXPRESSION_BYTES);
    // Formats and encodings are hints in the current dialect, and peers differ about them.
    jsonschema::options_for()
        .with_draft(draft)
        .offline()
        .should_validate_formats(false)
        .without_content_encoding_support("base64")
        .without_content_media_type_support("application/json")
        .with_pattern_options(expressions)
        .build(schema)
}

/// The graph of a schema that is not too deep for whoever looks at it recursively.
pub fn plan(schema: &serde_json::Value) -> Result<Plan, Skipped> {
    if has_more_levels(schema, SCHEMA_LEVELS) {
        return Err(Skipped::DeepSchema);
    }
    Ok(Plan::of(schema))
}

/// Whether there are more levels in `value` than `levels`. Recursion ends with them.
fn has_more_levels(value: &serde_json::Value, levels: usize) -> bool {
    use serde_json::Value::{Array, Object};
    let Some(inside) = levels.checked_sub(1) else {
        return true;
    };
    match value {
        Array(elements) => elements.iter().any(|it| has_more_levels(it, inside)),
        Object(members) => members.values().any(|it| has_more_levels(it, inside)),
        _ => false,
    }
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
pub fn violation<F: Json>(error: &ValidationError<'_>, root: F::Node<'_>) -> Violation {
    Violation {
        path: steps::<F>(error.instance_path().as_str(), root),
        message: quote::text(&error.masked().to_string()),
    }
}

/// The steps of a JSON pointer into `root`: what is a number may be a name as well.
fn steps<F: Json>(pointer: &str, root: F::Node<'_>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = Some(root);
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        let array = at.as_ref().and_then(Node::as_array);
        if let Some((array, index)) = array.zip(name.parse().ok()) {
            at = array.elements().nth(index);
            steps.push(Step::Element(index));
        } else {
            let object = at.as_ref().and_then(Node::as_object);
            at = object.and_then(|object| object.get(&F::prepare_key(&name)));
            steps.push(Step::Member(name.into()));
        }
    }
    steps
}
