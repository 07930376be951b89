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

use super::schema::{Checker, SCHEMA_BYTES, Skipped, Violation};
use crate::ListRequest;
use mcpreel_trace::bounded::digest;
use mcpreel_wire::brief;
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::Revision;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Tools of a list that are kept. Without a limit a server could make us grow with every page.
const TOOLS: usize = 10_000;

/// Bytes of schemas and names that are kept of a list, for the same reason.
const BYTES: usize = 4 << 20;

/// Bytes of schemas of a list that are held compiled. They take some twenty times their text.
const COMPILED: usize = 256 * 1024;

#[derive(Debug, Default)]
pub struct Listing {
    walk: Option<Walk>,
    list: Option<List>,
    /// Bytes of schemas that may still be compiled.
    pub room: usize,
}

#[derive(Debug, Default)]
struct Walk {
    /// The cursor of the page that comes next.
    next: Option<u64>,
    list: List,
    bytes: usize,
}

#[derive(Debug, Default)]
struct List {
    tools: HashMap<Box<str>, Tool>,
    /// Whether there were more of them than are kept.
    has_more: bool,
}

pub enum Lookup {
    Found(Tool),
    Unknown,
    Unclear,
}

impl Listing {
    /// The server says that its tools have changed.
    pub fn changed(&mut self) {
        (self.walk, self.list) = (None, None);
    }

    /// A page has come. `asked` is its request, where that is known. Returns the places on the page
    /// of tools whose names the walk has met before.
    pub fn page(
        &mut self,
        asked: Option<ListRequest>,
        result: Option<Value<'_>>,
        revision: Revision,
    ) -> Vec<usize> {
        let walk = match asked.map(|asked| asked.cursor) {
            None => None,
            Some(None) => Some(Walk::default()),
            // A page of another walk says nothing about this one.
            Some(cursor) => self.walk.take_if(|walk| walk.next == cursor),
        };
        let Some(mut walk) = walk else {
            return Vec::new();
        };
        let tools = result.and_then(|result| result.get("tools"));
        let tools = tools.filter(|tools| tools.kind() == Kind::Array);
        let Some((result, tools)) = result.zip(tools) else {
            // A page that could not be read: what was known may be no longer true.
            self.list = None;
            return Vec::new();
        };
        let doubles = walk.add(tools, revision);
        let next = result.get("nextCursor").filter(|next| !next.is_null());
        walk.next = next.map(|next| digest(next.str_bytes()));
        if walk.next.is_some() {
            self.walk = Some(walk);
        } else {
            (self.walk, self.list, self.room) = (None, Some(walk.list), COMPILED);
        }
        doubles
    }

    /// Looks the tool `name` up.
    pub fn find(&self, name: &str) -> Lookup {
        match &self.list {
            None => Lookup::Unclear,
            Some(list) => match list.tools.get(name) {
                Some(tool) => Lookup::Found(tool.clone()),
                None if list.has_more => Lookup::Unclear,
                None => Lookup::Unknown,
            },
        }
    }
}

impl Walk {
    /// Adds the tools of a page. Returns the places of those whose names were there before.
    fn add(&mut self, tools: Value<'_>, revision: Revision) -> Vec<usize> {
        let mut doubles = Vec::new();
        for (at, definition) in tools.elements().enumerate() {
            let Some(name) = definition.get("name").and_then(|name| name.as_str()) else {
                continue;
            };
            // Calls name it so.
            let name = brief::text(&name);
            if self.list.tools.contains_key(&*name) {
                doubles.push(at);
                continue;
            }
            let schema = |name: &str| Some(Arc::new(Schema::new(definition.get(name)?, revision)));
            let support = definition
                .get("execution")
                .and_then(|it| it.get("taskSupport"));
            let is_support = |word| support.is_some_and(|support| support.is_str(word));
            let tool = Tool {
                input: schema("inputSchema"),
                output: schema("outputSchema"),
                may_be_task: is_support("optional") || is_support("required"),
                must_be_task: is_support("required"),
            };
            let schemas = tool.input.iter().chain(&tool.output);
            self.bytes += name.len() + schemas.map(|schema| schema.text.len()).sum::<usize>();
            if self.list.tools.len() == TOOLS || self.bytes > BYTES {
                self.list.has_more = true;
                continue;
            }
            self.list.tools.insert(name.into(), tool);
        }
        doubles
    }
}

/// The schemas of a tool as it was listed.
#[derive(Clone, Debug)]
pub struct Tool {
    pub input: Option<Arc<Schema>>,
    pub output: Option<Arc<Schema>>,
    /// Whether it can be called as a task, and whether it has to be (2025-11-25).
    pub may_be_task: bool,
    pub must_be_task: bool,
}

/// A schema that is compiled when first needed.
#[derive(Debug)]
pub struct Schema {
    text: Box<[u8]>,
    revision: Revision,
    compiled: OnceLock<Result<Checker, Skipped>>,
}

impl Schema {
    fn new(value: Value<'_>, revision: Revision) -> Self {
        // The beginning is enough to see that a schema is too large.
        let end = value.raw().len().min(SCHEMA_BYTES + 1);
        Self {
            text: value.raw()[..end].into(),
            revision,
            compiled: OnceLock::new(),
        }
    }

    /// The violations in `value`. `room` is how many bytes of schemas may still be compiled.
    pub fn check(&self, value: Value<'_>, room: &mut usize) -> Result<Vec<Violation>, Skipped> {
        let compiled = self.compiled.get_or_init(|| {
            let schema = super::schema::read(&self.text)?;
            *room = room
                .checked_sub(self.text.len())
                .ok_or(Skipped::MANY_SCHEMAS)?;
            Checker::new(schema, self.revision, false)
        });
        compiled.as_ref().map_err(|reason| *reason)?.check(value)
    }
}
