//! What the server offers, and how it is read: the names are those of the last lists, the rest is in
//! the answers with these lists, the calls are counted.

use crate::panels::detail::detail_schema::short;
use crate::widget::cursor::Rows;
use crate::worker::job::{LastAsk, Source};
use compact_str::CompactString;
use mcpreel_store::reader::ReadError;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::stats::Row;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::mcp::methods::{LISTS, List};
use std::collections::BTreeMap;

/// The lists of a server: the member of the answer, what one element is called, and the method that
/// calls one.
pub const KINDS: [(&str, &str, &str); 4] = [
    ("tools", "tool", "tools/call"),
    ("resources", "resource", "resources/read"),
    ("resourceTemplates", "template", ""),
    ("prompts", "prompt", "prompts/get"),
];

/// Answers with a list that are read, the newest first.
const PAGES: u32 = 50;

/// Names that were called without being listed, of each kind.
const UNLISTED: usize = 100;

#[derive(Debug, Default)]
pub struct Server {
    pub asked: LastAsk<()>,
    pub offered: Option<Vec<Offered>>,
    pub cursor: Rows<Id>,
}

/// The kind and the name of what is offered.
pub type Id = (&'static str, CompactString);

/// A tool, a resource, a template or a prompt.
#[derive(Debug)]
pub struct Offered {
    pub id: Id,
    /// Whether the last list has it.
    pub is_listed: bool,
    /// The element of the newest list that has it, as it was on the wire; none where no list has it, and
    /// where that list is too long to be read here.
    pub json: Option<Box<[u8]>>,
    /// How often it was called and how often that failed.
    pub called: Row,
}

impl Server {
    pub fn ids(&self) -> Vec<Id> {
        let all = self.offered.iter().flatten();
        all.map(|one| one.id.clone()).collect()
    }

    /// The one under the cursor.
    pub fn current(&self) -> Option<&Offered> {
        let at = self.cursor.at(&self.ids());
        self.offered.as_ref()?.get(at)
    }
}

pub fn read(source: &Source<'_>) -> Result<Vec<Offered>, ReadError> {
    let mut called: BTreeMap<(CompactString, CompactString), Row> = BTreeMap::new();
    source.recording.each_exchange(|exchange| {
        let is_call = KINDS.iter().any(|(.., method)| exchange.method == *method);
        if let Some(name) = exchange.name.clone().filter(|_| is_call) {
            let row = called.entry((exchange.method.clone(), name)).or_default();
            row.count += 1;
            row.failed += u64::from(exchange.has_failed());
        }
    })?;
    let mut state = source.recording.state_at(Seq(source.summary.frames))?;
    let mut offered = Vec::new();
    for (member, kind, method) in KINDS {
        let list = LISTS.iter().find(|list| list.member == member);
        let listed = state.lists.remove(member).unwrap_or_default();
        let elements = list.map(|list| elements(source, list)).transpose()?;
        let elements = elements.unwrap_or_default();
        let one = |name: CompactString, is_listed, called| Offered {
            json: elements.get(&name).cloned(),
            is_listed,
            called,
            id: (kind, name),
        };
        offered.extend(listed.names.into_iter().map(|name| {
            let calls = called.remove(&(method.into(), name.clone()));
            one(name, true, calls.unwrap_or_default())
        }));
        // A resource may be one of a template.
        let is_unlisted = |of: &CompactString| *of == method && kind != "resource";
        let unlisted = called.iter().filter(|((of, _), _)| is_unlisted(of));
        let unlisted = unlisted.take(UNLISTED);
        offered.extend(unlisted.map(|((_, name), row)| one(name.clone(), false, row.clone())));
    }
    Ok(offered)
}

/// The elements of the newest answers with this list, by their names.
fn elements(
    source: &Source<'_>,
    list: &List,
) -> Result<BTreeMap<CompactString, Box<[u8]>>, ReadError> {
    let mut elements = BTreeMap::new();
    let recording = source.recording;
    for place in recording.answers_of(list.method, None, PAGES)? {
        let bytes = short(recording, place)?.unwrap_or_default();
        let Ok(document) = Document::parse(&bytes) else {
            continue;
        };
        let result = document.root().get("result");
        let all = result.and_then(|result| result.get(list.member));
        for element in all.iter().flat_map(Value::elements) {
            let name = element.get(list.element);
            if let Some(name) = name.as_ref().and_then(Value::as_str) {
                let json = || element.raw().into();
                elements.entry(name.into()).or_insert_with(json);
            }
        }
    }
    Ok(elements)
}
