//! Arguments that a tool wants in headers too, `Mcp-Param-…` (`x-mcp-header`, 2026-07-28).
//!
//! A client has to send them, so that who routes by headers needs no body; it learns which ones from the
//! list of tools.

use super::{MISMATCH, decoded};
use crate::tools::definition::X_MCP_HEADER;
use crate::{Part, quote};
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_wire::http::Head;
use mcpreel_wire::json::{Kind, Number, Path, Step, Value};

/// Tools that are remembered.
const TOOLS: usize = 1024;

/// Parameters of a tool that are remembered.
const PARAMS: usize = 64;

/// Objects within objects in which parameters are looked for.
const DEPTH: usize = 16;

/// The parameters that tools want in headers, by the name of the tool.
#[derive(Debug, Default)]
pub(super) struct Params {
    tools: BoundedMap<Box<str>, Vec<Param>, TOOLS>,
}

#[derive(Debug)]
struct Param {
    header: String,
    /// Where in the arguments it stands.
    steps: Vec<Step>,
}

impl Params {
    /// Takes in a page of the list of tools.
    pub fn listed(&mut self, part: &Part<'_>) {
        let tools = part.result().and_then(|result| result.get("tools"));
        for tool in tools.iter().flat_map(Value::elements) {
            let Some(name) = tool.get("name").and_then(|name| name.as_str()) else {
                continue;
            };
            let mut params = Vec::new();
            if let Some(schema) = tool.get("inputSchema") {
                search(schema, &mut Vec::new(), &mut params);
            }
            if params.is_empty() {
                self.tools.remove(&*name);
            } else {
                self.tools.insert(name.into(), params);
            }
        }
    }

    /// The list has changed: which headers are wanted is not known any more.
    pub fn changed(&mut self) {
        self.tools.clear();
    }

    /// Compares the arguments of a call with the headers that it came with.
    pub fn called(&self, part: &Part<'_>, head: &Head) {
        let name = part.param("name").and_then(|name| name.as_str());
        let params = name.and_then(|name| self.tools.get(&*name));
        for param in params.into_iter().flatten() {
            let value = part.param("arguments");
            let value = value.and_then(|value| Path::new(param.steps.clone()).first(value));
            let value = value.filter(|value| !value.is_null());
            if let Some(wrong) = wrong(head.get(&param.header), value) {
                let steps = ["params", "arguments"].map(|name| Step::Member(name.into()));
                let path = quote::written(steps.into_iter().chain(param.steps.clone()).collect());
                let detail = format!("{} {wrong}", quote::text(&param.header));
                part.tell_at(&MISMATCH, path, detail);
            }
        }
    }
}

/// Collects the parameters to which `properties` alone lead: all others are refused.
fn search(schema: Value<'_>, steps: &mut Vec<Step>, params: &mut Vec<Param>) {
    let properties = schema.get("properties");
    for (name, property) in properties.iter().flat_map(Value::members) {
        if steps.len() == DEPTH || params.len() == PARAMS {
            return;
        }
        steps.push(Step::Member(name.as_str().unwrap_or_default().into()));
        if let Some(header) = property.get(X_MCP_HEADER).and_then(|it| it.as_str()) {
            params.push(Param {
                header: format!("Mcp-Param-{header}"),
                steps: steps.clone(),
            });
        }
        search(property, steps, params);
        steps.pop();
    }
}

/// What is wrong with a header, beside the argument that it has to repeat.
fn wrong(sent: Option<&str>, value: Option<Value<'_>>) -> Option<String> {
    let said = value.map(|value| match value.as_str() {
        Some(text) => text.into_owned(),
        None => value.raw_text().into_owned(),
    });
    match (sent, said) {
        (None, None) => None,
        (None, Some(said)) => Some(format!("is missing, the body says {}", quote::text(&said))),
        (Some(sent), None) => Some(format!("is {}, the body has none", quote::text(sent))),
        (Some(sent), Some(said)) => {
            let is_plain = |byte: u8| byte == b'\t' || (b' '..=b'~').contains(&byte);
            let is_same = is_same(&decoded(sent), &said, value.map(|value| value.kind()));
            if !is_same {
                let (sent, said) = (quote::text(sent), quote::text(&said));
                return Some(format!("is {sent}, the body says {said}"));
            }
            let is_bare = !sent.bytes().all(is_plain);
            is_bare.then(|| "holds what is no ASCII and has to be encoded".to_owned())
        }
    }
}

/// Numbers are compared as such: 42.0 is 42.
fn is_same(sent: &str, said: &str, kind: Option<Kind>) -> bool {
    let number = |text: &str| Number::parse(text).filter(|_| kind == Some(Kind::Number));
    sent == said || number(said).is_some_and(|said| number(sent) == Some(said))
}
