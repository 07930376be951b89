//! A name at the end of a line whose value stands on the next ones, each of which is a frame.
//!
//! ```text
//!  frame 7   api_keys:        - name: API_KEY     set-cookie: [     form-data; name="password"
//!  frame 8     - this           value: this         'sid=this',
//!  frame 9     - and this                          ]                 this
//! ```

use crate::find::Finder;
use crate::hit::Found;
use crate::named;

/// Bytes of all lines; nobody writes more for a person to read.
const LONGEST: usize = 2048;

/// Lines below a name: to look at all of them with each new one takes their square.
const MOST: usize = 16;

/// What a line of a form says in front of a name.
const FORM: &[u8] = b"form-data; name=\"";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Until {
    /// A line in which nothing more is found.
    #[default]
    Miss,
    /// The bracket that is open is closed.
    Closed,
    Found,
}

/// The lines from one that ends with a name on.
#[derive(Debug, Default)]
pub(super) struct Over {
    text: Vec<u8>,
    until: Until,
    lines: usize,
    hits: usize,
}

impl Over {
    /// Takes the next line of the stream, of which `may_have` says whether there may be something
    /// in it. Adds to `found` what is secret in it because of those before, besides what is in those.
    pub fn push(
        &mut self,
        finder: &Finder<'_>,
        (line, may_have): (&[u8], bool),
        found: &mut Found,
    ) {
        let is_one = line.len() < LONGEST && !is_json(line);
        let goes_on = !self.text.is_empty()
            && is_one
            && self.lines < MOST
            && self.text.len() + line.len() < LONGEST;
        if goes_on && self.goes_on_with(finder, line, found) {
            return;
        }
        *self = Self::default();
        if is_one
            && may_have
            && let Some(until) = until(finder, line)
        {
            self.text.extend_from_slice(line);
            self.until = until;
            let mut own = Found::default();
            finder.text(line, 0, &mut own);
            self.hits = own.hits.len();
        }
    }

    /// Takes a line in; whether the next one may belong to the name as well.
    fn goes_on_with(&mut self, finder: &Finder<'_>, line: &[u8], found: &mut Found) -> bool {
        self.text.extend_from_slice(line);
        self.lines += 1;
        if self.until == Until::Closed && is_open(&self.text) {
            return true;
        }
        let mark = found.hits.len();
        finder.text(&self.text, 0, found);
        let hits = found.hits.len() - mark;
        let is_more = hits > self.hits;
        self.hits = hits.max(self.hits);
        match self.until {
            Until::Miss => is_more || line.trim_ascii().is_empty(),
            Until::Closed => false,
            Until::Found => !is_more,
        }
    }
}

fn is_json(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// How far the value of a name in a line stands below it, if that may be.
fn until(finder: &Finder<'_>, line: &[u8]) -> Option<Until> {
    let line = line.trim_ascii_end();
    let named = line.strip_suffix(b"\"").unwrap_or(line);
    match line.last()? {
        b':' | b'=' | b'|' | b'>' | b'-' => Some(Until::Miss),
        b'[' | b'(' | b'{' => Some(Until::Closed),
        _ if memchr::memmem::find(line, FORM).is_some() => Some(Until::Found),
        _ => named::is_told(finder, named).then_some(Until::Miss),
    }
}

/// Whether a bracket is not closed.
fn is_open(text: &[u8]) -> bool {
    let count = |those: &[u8]| text.iter().filter(|byte| those.contains(byte)).count();
    count(b"[({") > count(b"])}")
}
