//! Server-sent events (HTML living standard, section 9.2).

/// Bytes of an event that are kept; of a longer one the first of them.
const KEPT: usize = 16 << 20;

/// An event, or a block of comments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The data lines joined by line ends; of a block without data its lines as they came.
    pub bytes: Vec<u8>,
    /// Bytes that it has in all.
    pub total: u64,
    pub is_event: bool,
    pub id: Option<String>,
    pub name: Option<String>,
    /// Milliseconds after which the client is to connect again.
    pub retry: Option<u64>,
}

/// Cuts a stream into events.
#[derive(Debug, Default)]
pub struct Events {
    line: Vec<u8>,
    block: Block,
    /// The lines that are no fields, as they came.
    comments: Vec<u8>,
    has_begun: bool,
    after_cr: bool,
    has_data: bool,
}

impl Events {
    /// Takes bytes up to the end of the next block: how many, and the block, if its end came.
    pub fn take(&mut self, bytes: &[u8]) -> (usize, Option<Block>) {
        let mut at = 0;
        while at < bytes.len() {
            // A line end of two bytes may be cut in two.
            if std::mem::take(&mut self.after_cr) && bytes[at] == b'\n' {
                at += 1;
                continue;
            }
            let rest = &bytes[at..];
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.keep(rest);
                return (bytes.len(), None);
            };
            self.keep(&rest[..end]);
            self.after_cr = rest[end] == b'\r';
            at += end + 1;
            if self.after_cr && bytes.get(at) == Some(&b'\n') {
                self.after_cr = false;
                at += 1;
            }
            if let Some(block) = self.line_ended() {
                return (at, Some(block));
            }
        }
        (at, None)
    }

    /// What has come of a block whose end has not, if anything.
    pub fn rest(&mut self) -> Option<Block> {
        if !self.line.is_empty() {
            self.line_ended();
        }
        let block = self.dispatch();
        (block.is_event || !block.bytes.is_empty()).then_some(block)
    }

    /// Whether it is between two blocks.
    pub fn is_between(&self) -> bool {
        self.line.is_empty() && self.comments.is_empty() && !self.has_data && !self.is_named()
    }

    fn is_named(&self) -> bool {
        self.block.id.is_some() || self.block.name.is_some() || self.block.retry.is_some()
    }

    fn keep(&mut self, part: &[u8]) {
        let room = KEPT.saturating_sub(self.line.len());
        self.line.extend_from_slice(&part[..part.len().min(room)]);
        self.block.total += (part.len() - part.len().min(room)) as u64;
    }

    fn line_ended(&mut self) -> Option<Block> {
        let line = std::mem::take(&mut self.line);
        let mut line = &line[..];
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            let is_anything = !self.is_between();
            return is_anything.then(|| self.dispatch());
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.push(b"\n");
                }
                self.push(value);
            }
            b"event" => self.block.name = Some(text()),
            b"id" if !value.contains(&0) => self.block.id = Some(text()),
            b"retry" => self.block.retry = text().parse().ok(),
            _ => {
                let room = KEPT.saturating_sub(self.comments.len());
                self.comments.extend(line.iter().take(room));
                self.comments.push(b'\n');
            }
        }
        None
    }

    fn push(&mut self, part: &[u8]) {
        let room = KEPT.saturating_sub(self.block.bytes.len());
        self.block.bytes.extend(part.iter().take(room));
        self.block.total += part.len() as u64;
    }

    fn dispatch(&mut self) -> Block {
        let mut block = std::mem::take(&mut self.block);
        let comments = std::mem::take(&mut self.comments);
        // An event without data is none for its reader, but its id is where a client goes on.
        block.is_event = std::mem::take(&mut self.has_data) || block.id.is_some();
        if !block.is_event {
            block.total = comments.len() as u64;
            block.bytes = comments;
        }
        block
    }
}
