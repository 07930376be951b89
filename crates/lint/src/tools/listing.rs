//! The tools that a server has listed, as far as that is known for certain.
//!
//! ```text
//!  tools/list ─▶ page ─▶ page ─▶ last page      list_changed
//!               └────── walk ──────┘─▶ list ───────▶ nothing
//! ```
//!
//! A list is known once a walk through all its pages is complete, until the server says that it
//! has changed: pages from before and after that are not put together. What a server sends after
//! it has said so is taken as new, also where it was asked before.

use super::schema::{self, Checker, Skipped, Violation};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::brief;
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::Revision;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Requests for pages that are open at once. Of more, the oldest answers are not understood.
const OPEN: usize = 64;

/// Tools of a list that are kept. Without a limit a server could make us grow with every page.
const TOOLS: usize = 10_000;

/// Bytes of schemas and names that are kept of a list, for the same reason.
const BYTES: usize = 4 << 20;

#[derive(Debug, Default)]
pub struct Listing {
    /// Requests for pages, each with its cursor.
    asked: BoundedMap<ExchangeId, Option<u64>, OPEN>,
    walk: Option<Walk>,
    list: Option<List>,
    /// The one before it, for the answers to calls that were made by it.
    past: Option<List>,
    /// What may still be compiled of the list.
    pub room: Room,
}

#[derive(Debug, Default)]
struct Walk {
    /// The cursor of the page that comes next.
    next: Option<u64>,
    list: List,
    bytes: usize,
}

#[derive(Debug, Default)]
pub struct List {
    tools: HashMap<Arc<str>, Arc<Tool>>,
    /// Whether there were more of them than are kept.
    has_more: bool,
}

#[derive(Clone, Debug)]
pub enum Lookup {
    Found(Arc<Tool>),
    Unknown,
    Unclear,
}

impl Listing {
    /// The client asks for the page that `cursor` stands for.
    pub fn asked(&mut self, exchange: ExchangeId, cursor: Option<Value<'_>>) {
        let cursor = cursor.filter(|cursor| !cursor.is_null()).map(told_apart);
        self.asked.insert(exchange, cursor);
    }

    /// The server says that its tools have changed.
    pub fn changed(&mut self) {
        self.walk = None;
        self.retire();
    }

    /// The list is no longer true. What was before it goes.
    fn retire(&mut self) {
        if let Some(list) = self.list.take() {
            self.past = Some(list);
        }
    }

    /// A page has come. Returns the places on it of tools whose names the walk has met before.
    pub fn page(
        &mut self,
        exchange: ExchangeId,
        result: Option<Value<'_>>,
        revision: Revision,
    ) -> Vec<usize> {
        let Some(mut walk) = self.walk_of(exchange) else {
            return Vec::new();
        };
        let is_list = |result: &Value<'_>| {
            let tools = result.get("tools");
            tools.is_some_and(|tools| tools.kind() == Kind::Array)
        };
        let Some(result) = result.filter(is_list) else {
            // A page that could not be read: what was known may be no longer true.
            self.retire();
            return Vec::new();
        };
        let doubles = walk.add(result, revision, self.list.as_ref());
        walk.next = result
            .get("nextCursor")
            .filter(|next| !next.is_null())
            .map(told_apart);
        if walk.next.is_some() {
            self.walk = Some(walk);
        } else {
            self.complete(walk);
        }
        doubles
    }

    /// The walk that the page goes on with which answers `exchange`: a new one with the first page.
    /// `None` where it belongs to another walk, and says nothing about this one.
    fn walk_of(&mut self, exchange: ExchangeId) -> Option<Walk> {
        match self.asked.remove(&exchange)? {
            None => Some(Walk::default()),
            Some(cursor) => self.walk.take_if(|walk| walk.next == Some(cursor)),
        }
    }

    /// Takes over what a walk has found, which has come to its last page.
    fn complete(&mut self, walk: Walk) {
        let tools = walk.list.tools.values();
        self.room = Room::without(tools.map(|tool| tool.compiled_bytes()).sum());
        self.retire();
        self.list = Some(walk.list);
        self.walk = None;
    }

    /// What is known about the tool `name`.
    pub fn find(&self, name: &str) -> Lookup {
        let Some(list) = &self.list else {
            return Lookup::Unclear;
        };
        match list.tools.get(name) {
            Some(tool) => Lookup::Found(Arc::clone(tool)),
            None if list.has_more => Lookup::Unclear,
            None => Lookup::Unknown,
        }
    }
}

impl Walk {
    /// Adds the tools of a page; those that stand in `old` as they are now keep what was compiled.
    /// Returns the places on the page of those whose names were there before.
    fn add(&mut self, result: Value<'_>, revision: Revision, old: Option<&List>) -> Vec<usize> {
        let mut doubles = Vec::new();
        let tools = result.get("tools");
        for (at, definition) in tools.iter().flat_map(Value::elements).enumerate() {
            let Some(name) = definition.get("name").and_then(|name| name.as_str()) else {
                continue;
            };
            // Calls name it so.
            let name = brief::text(&name);
            if self.list.tools.contains_key(&*name) {
                doubles.push(at);
                continue;
            }
            let known = old.and_then(|old| old.tools.get(&*name));
            let tool = match known.filter(|tool| tool.is(definition, revision)) {
                Some(tool) => Arc::clone(tool),
                None => Arc::new(Tool::new(&name, definition, revision)),
            };
            self.bytes += tool.bytes();
            if self.list.tools.len() == TOOLS || self.bytes > BYTES {
                self.list.has_more = true;
                continue;
            }
            self.list.tools.insert(Arc::clone(&tool.name), tool);
        }
        doubles
    }
}

/// Cursors can be of any length: this is enough to tell them apart.
fn told_apart(value: Value<'_>) -> u64 {
    digest(value.str_bytes())
}

// A tool as it was listed, with its schemas, which are compiled when first needed.

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
        checker.check(value.raw())
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
        Checker::new(schema, revision)
    }
}
