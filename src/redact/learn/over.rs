//! A name at the end of a line whose value stands on the next ones, each of which is a frame.
//!
//! ```text
//!  frame 7   api_keys:
//!  frame 8     - this
//!  frame 9     - and this
//! ```

use crate::redact::find::Finder;
use crate::redact::hit::Found;

/// Bytes of all lines; nobody writes more for a person to read.
const LONGEST: usize = 2048;

/// Lines below a name: to look at all of them with each new one takes their square.
const MOST: usize = 16;

/// The lines from one that ends with a name on.
#[derive(Debug, Default)]
pub(super) struct Over {
    text: Vec<u8>,
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
        if goes_on {
            self.text.extend_from_slice(line);
            self.lines += 1;
            let mark = found.hits.len();
            finder.text(&self.text, 0, found);
            let hits = found.hits.len() - mark;
            if hits > self.hits || line.trim_ascii().is_empty() {
                self.hits = hits;
                return;
            }
        }
        *self = Self::default();
        if is_one && may_have && is_open(line) {
            self.text.extend_from_slice(line);
            let mut own = Found::default();
            finder.text(line, 0, &mut own);
            self.hits = own.hits.len();
        }
    }
}

fn is_json(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Whether a line ends as one whose value stands below.
fn is_open(line: &[u8]) -> bool {
    matches!(
        line.trim_ascii_end().last(),
        Some(b':' | b'=' | b'|' | b'>' | b'-')
    )
}
