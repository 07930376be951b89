//! Reading a text into nodes, without recursion.

use super::scan::{self, Reason, SyntaxError};
use super::value::{Kind, Value};

/// How deep arrays and objects may nest. Deeper texts are told, not read: whoever walks a value
/// may then recurse, and peers' own parsers overflow at depths not far above.
pub const MAX_DEPTH: usize = 512;

/// Nodes that most messages have room in: to make it grow takes as long as to read them.
const SOME: usize = 32;

/// One value, or one member's name, as a span of the text. Opaque: walk it as a [`Value`].
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The node after this one and all within it. While a container is open: its parent.
    pub(super) next: u32,
    pub(super) kind: Kind,
    /// For strings: whether there are escapes to resolve.
    pub(super) escaped: bool,
}

/// A text together with its nodes.
#[derive(Clone, Debug)]
pub struct Document<'t> {
    text: &'t [u8],
    nodes: Vec<Node>,
}

impl<'t> Document<'t> {
    /// Reads `text`: one value, with white space around it.
    pub fn parse(text: &'t [u8]) -> Result<Self, SyntaxError> {
        let mut nodes = Vec::with_capacity(SOME.min(text.len()));
        parse_into(text, &mut nodes)?;
        Ok(Self { text, nodes })
    }

    /// Reads as much of `text` as can be read, and of that at most `max_nodes` nodes: the
    /// beginning of a text that goes on, or of one that is no JSON. Containers that are open
    /// where reading stopped hold what came before; a string that breaks off at the end of the
    /// text is there as far as it goes, without a closing quote. Returns the document, unless
    /// not even one value had begun, and why reading stopped before the end of the text.
    pub fn read_prefix(text: &'t [u8], max_nodes: usize) -> (Option<Self>, Option<Stopped>) {
        let mut nodes = Vec::new();
        let stopped = prefix_into(text, max_nodes, &mut nodes);
        let document = (!nodes.is_empty()).then_some(Self { text, nodes });
        (document, stopped)
    }

    pub fn root(&self) -> Value<'_> {
        Value::new(self.text, &self.nodes, 0)
    }

    pub fn text(&self) -> &'t [u8] {
        self.text
    }
}

/// Why [`Document::read_prefix`] read no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// What comes next is no JSON, or the text ends within a value.
    At(SyntaxError),
    /// There are as many nodes as were asked for; the text was read up to this byte.
    Enough { offset: usize },
}

/// Reads `text` into `nodes`, whose former content goes and whose memory is used again. Returns
/// the outermost value.
pub fn parse_into<'d>(text: &'d [u8], nodes: &'d mut Vec<Node>) -> Result<Value<'d>, SyntaxError> {
    nodes.clear();
    if u32::try_from(text.len()).is_err() {
        return scan::error(u32::MAX as usize, Reason::TooLong);
    }
    let mut parser = Parser::new(text, nodes);
    let mut next = Next::Value;
    while next != Next::Nothing {
        next = parser.step(next)?;
    }
    Ok(Value::new(text, nodes, 0))
}

/// The outermost value of a `text` that [`parse_into`] has read into `nodes`.
pub fn parsed_root<'d>(text: &'d [u8], nodes: &'d [Node]) -> Value<'d> {
    Value::new(text, nodes, 0)
}

fn prefix_into(text: &[u8], max_nodes: usize, nodes: &mut Vec<Node>) -> Option<Stopped> {
    // Offsets have 32 bits.
    let text = &text[..text.len().min(u32::MAX as usize - 1)];
    let mut parser = Parser::new(text, nodes);
    let mut next = Next::Value;
    while next != Next::Nothing {
        let nodes = parser.nodes.len();
        if nodes >= max_nodes && matches!(next, Next::Value | Next::Key) {
            parser.abandon(next, nodes);
            return Some(Stopped::Enough { offset: parser.at });
        }
        next = match parser.step(next) {
            Ok(next) => next,
            Err(error) => {
                parser.abandon(next, nodes);
                return Some(Stopped::At(error));
            }
        };
    }
    None
}

/// No container: the parent of the outermost value.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    Key,
    Separator,
    Nothing,
}

struct Parser<'t, 'n> {
    text: &'t [u8],
    at: usize,
    nodes: &'n mut Vec<Node>,
    /// The innermost open container; its own `next` leads outwards.
    open: u32,
    depth: usize,
}

impl<'t, 'n> Parser<'t, 'n> {
    fn new(text: &'t [u8], nodes: &'n mut Vec<Node>) -> Self {
        Self {
            text,
            at: 0,
            nodes,
            open: NONE,
            depth: 0,
        }
    }

    fn step(&mut self, next: Next) -> Result<Next, SyntaxError> {
        match next {
            Next::Value => self.value(),
            Next::Key => self.key(),
            _ => self.after_value(),
        }
    }

    /// Leaves well-formed nodes where `next` could not be read, before which there were `nodes`
    /// of them: names without a value go, open containers end here.
    fn abandon(&mut self, next: Next, nodes: usize) {
        self.nodes.truncate(nodes);
        let in_string = next == Next::Value && self.text.get(self.at) == Some(&b'"');
        if in_string && let Err(error) = scan::string(self.text, self.at) {
            self.leaf(Kind::String, error.offset, true);
        } else if next == Next::Value || self.drop_unfinished_number() {
            let key = self.in_object();
            self.nodes.truncate(self.nodes.len() - usize::from(key));
        }
        let end = narrow(self.at);
        let next = narrow(self.nodes.len());
        while let Some(node) = self.nodes.get_mut(self.open as usize) {
            self.open = std::mem::replace(&mut node.next, next);
            node.end = end;
        }
    }

    /// A number at the very end of the text may have had more digits.
    fn drop_unfinished_number(&mut self) -> bool {
        let length = self.text.len();
        let unfinished = |node: &mut Node| node.kind == Kind::Number && node.end as usize == length;
        self.open != NONE && self.nodes.pop_if(unfinished).is_some()
    }

    fn in_object(&self) -> bool {
        let open = self.nodes.get(self.open as usize);
        open.is_some_and(|open| open.kind == Kind::Object)
    }

    fn value(&mut self) -> Result<Next, SyntaxError> {
        let start = self.skip_white();
        let (kind, end, escaped) = match self.text.get(start) {
            Some(b'"') => {
                let (end, escaped) = scan::string(self.text, start)?;
                (Kind::String, end, escaped)
            }
            Some(b'{') => return self.begin(Kind::Object, b'}', Next::Key),
            Some(b'[') => return self.begin(Kind::Array, b']', Next::Value),
            Some(b'-' | b'0'..=b'9') => (Kind::Number, scan::number(self.text, start)?, false),
            Some(b't') => (Kind::Bool, scan::literal(self.text, start, b"true")?, false),
            Some(b'f') => (
                Kind::Bool,
                scan::literal(self.text, start, b"false")?,
                false,
            ),
            Some(b'n') => (Kind::Null, scan::literal(self.text, start, b"null")?, false),
            Some(_) => return scan::error(start, Reason::Value),
            None if self.nodes.is_empty() => return scan::error(start, Reason::Empty),
            None => return scan::error(start, Reason::End),
        };
        self.leaf(kind, end, escaped);
        Ok(Next::Separator)
    }

    fn key(&mut self) -> Result<Next, SyntaxError> {
        let start = self.skip_white();
        match self.text.get(start) {
            Some(b'"') => {}
            Some(_) => return scan::error(start, Reason::Key),
            None => return scan::error(start, Reason::End),
        }
        let (end, escaped) = scan::string(self.text, start)?;
        self.leaf(Kind::String, end, escaped);
        let colon = self.skip_white();
        match self.text.get(colon) {
            Some(b':') => self.at += 1,
            Some(_) => return scan::error(colon, Reason::Colon),
            None => return scan::error(colon, Reason::End),
        }
        Ok(Next::Value)
    }

    fn after_value(&mut self) -> Result<Next, SyntaxError> {
        let at = self.skip_white();
        let Some(open) = self.nodes.get(self.open as usize) else {
            return match self.text.get(at) {
                None => Ok(Next::Nothing),
                Some(_) => scan::error(at, Reason::Trailing),
            };
        };
        let object = open.kind == Kind::Object;
        match (self.text.get(at), object) {
            (Some(b','), true) => {
                self.at += 1;
                Ok(Next::Key)
            }
            (Some(b','), false) => {
                self.at += 1;
                Ok(Next::Value)
            }
            (Some(b'}'), true) | (Some(b']'), false) => {
                self.end();
                Ok(Next::Separator)
            }
            (Some(_), true) => scan::error(at, Reason::ObjectEnd),
            (Some(_), false) => scan::error(at, Reason::ArrayEnd),
            (None, _) => scan::error(at, Reason::End),
        }
    }

    /// Opens a container, and closes it at once if it is empty.
    fn begin(&mut self, kind: Kind, close: u8, inside: Next) -> Result<Next, SyntaxError> {
        if self.depth == MAX_DEPTH {
            return scan::error(self.at, Reason::TooDeep { limit: MAX_DEPTH });
        }
        self.depth += 1;
        let index = narrow(self.nodes.len());
        self.nodes.push(Node {
            start: narrow(self.at),
            end: 0,
            next: self.open,
            kind,
            escaped: false,
        });
        self.open = index;
        self.at += 1;
        let at = self.skip_white();
        if self.text.get(at) == Some(&close) {
            self.end();
            return Ok(Next::Separator);
        }
        Ok(inside)
    }

    /// Closes the innermost container at its closing bracket.
    fn end(&mut self) {
        self.at += 1;
        self.depth -= 1;
        let (end, next) = (narrow(self.at), narrow(self.nodes.len()));
        let node = &mut self.nodes[self.open as usize];
        self.open = std::mem::replace(&mut node.next, next);
        node.end = end;
    }

    fn leaf(&mut self, kind: Kind, end: usize, escaped: bool) {
        let next = narrow(self.nodes.len() + 1);
        self.nodes.push(Node {
            start: narrow(self.at),
            end: narrow(end),
            next,
            kind,
            escaped,
        });
        self.at = end;
    }

    fn skip_white(&mut self) -> usize {
        while self.text.get(self.at).copied().is_some_and(scan::is_white) {
            self.at += 1;
        }
        self.at
    }
}

/// Offsets and node counts fit: the text is shorter than 4 GiB, and a node takes a byte at least.
fn narrow(length: usize) -> u32 {
    u32::try_from(length).expect("the length was checked before the first node")
}

#[cfg(test)]
mod document_tests;
