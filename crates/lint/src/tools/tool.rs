//! A tool as it was listed, with its schemas, which are compiled when first needed.

use super::schema::{self, Checker, Skipped, Violation};
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::Revision;
use std::sync::{Arc, OnceLock};

#[derive(Debug)]
pub struct Tool {
    pub name: Arc<str>,
    /// What its arguments have to fit.
    pub input: Option<Schema>,
    /// What its structured content has to fit.
    pub output: Option<Schema>,
    revision: Revision,
}

/// A schema that is compiled when first needed.
#[derive(Debug)]
pub struct Schema {
    text: Box<[u8]>,
    compiled: OnceLock<Result<Checker, Skipped>>,
}

/// Bytes of schemas that are held compiled. They take some twenty times their text: without a
/// limit a client that calls ten thousand tools would make us grow by tens of megabytes.
const COMPILED: usize = 256 * 1024;

/// How many bytes of schemas may still be compiled.
#[derive(Debug)]
pub struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(COMPILED)
    }
}

impl Room {
    /// What is left where so many bytes are compiled already.
    pub fn without(bytes: usize) -> Self {
        Self(COMPILED.saturating_sub(bytes))
    }
}

impl Tool {
    /// The tool that `definition` defines.
    pub fn new(name: &str, definition: Value<'_>, revision: Revision) -> Self {
        Self {
            name: name.into(),
            input: definition.get("inputSchema").map(Schema::new),
            output: definition.get("outputSchema").map(Schema::new),
            revision,
        }
    }

    /// Whether `definition` has the same schemas.
    pub fn is(&self, definition: Value<'_>, revision: Revision) -> bool {
        let is = |schema: &Option<Schema>, name: &str| {
            let text = schema.as_ref().map(|schema| &*schema.text);
            text == definition.get(name).map(|schema| schema.raw())
        };
        self.revision == revision
            && is(&self.input, "inputSchema")
            && is(&self.output, "outputSchema")
    }

    pub fn bytes(&self) -> usize {
        let schemas = self.input.iter().chain(&self.output);
        self.name.len() + schemas.map(|schema| schema.text.len()).sum::<usize>()
    }

    /// Bytes of its schemas that are compiled.
    pub fn compiled_bytes(&self) -> usize {
        let schemas = self.input.iter().chain(&self.output);
        let compiled = schemas.filter(|schema| matches!(schema.compiled.get(), Some(Ok(_))));
        compiled.map(|schema| schema.text.len()).sum()
    }

    /// What `value` does wrong by `schema`, which is one of this tool's.
    pub fn check(
        &self,
        schema: &Schema,
        value: Value<'_>,
        room: &mut Room,
    ) -> Result<Vec<Violation>, Skipped> {
        let compiled = schema
            .compiled
            .get_or_init(|| schema.compile(self.revision, room));
        let checker = compiled.as_ref().map_err(|reason| *reason)?;
        if value.raw().len() > schema::VALUE_BYTES {
            return Err(Skipped::LargeValue);
        }
        checker.check(value)
    }
}

impl Schema {
    fn new(value: Value<'_>) -> Self {
        // A larger one is not looked at: its beginning is enough to see that it is too large.
        let end = value.raw().len().min(schema::SCHEMA_BYTES + 1);
        Self {
            text: value.raw()[..end].into(),
            compiled: OnceLock::new(),
        }
    }

    fn compile(&self, revision: Revision, room: &mut Room) -> Result<Checker, Skipped> {
        let schema = schema::schema(&self.text)?;
        let Some(left) = room.0.checked_sub(self.text.len()) else {
            return Err(Skipped::ManySchemas);
        };
        room.0 = left;
        Checker::new(&schema, revision)
    }
}
