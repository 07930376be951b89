//! Bytes as hexadecimal numbers with their text beside them.
//!
//! ```text
//! 0000:0010  2c 22 69 64 22 3a 37 2c  22 6d 65 74 68 6f 64 22  ,"id":7,"method"
//! ```

use super::pieces::Hits;
use super::spans::Spans;
use crate::theme::Role;

/// How many bytes a line of `columns` columns has: 16, or 8, or 4.
pub fn per_line(columns: usize) -> usize {
    // Offset, two spaces; for each byte two digits, a space and a character; two gaps.
    let needed = |bytes: usize| 11 + bytes * 4 + 2;
    [16, 8]
        .into_iter()
        .find(|&bytes| needed(bytes) <= columns)
        .unwrap_or(4)
}

/// The line `row`, counted from 0, of the lines with `per_line` bytes.
pub fn line(bytes: &[u8], row: usize, per_line: usize, hits: Hits<'_>) -> Spans {
    let start = row * per_line;
    let role = |at: usize, otherwise| {
        let is_hit = hits.iter().any(|hit| hit.contains(&at));
        if is_hit { Role::Hit } else { otherwise }
    };
    let offset = format!("{:04x}:{:04x}  ", start >> 16, start & 0xffff);
    let mut line = vec![(Role::Faint, offset)];
    for at in start..start + per_line {
        let byte = bytes.get(at);
        let text = byte.map_or_else(|| "  ".to_owned(), |byte| format!("{byte:02x}"));
        let is_group_end = (at + 1 - start).is_multiple_of(8) || at + 1 == start + per_line;
        line.push((role(at, Role::Text), text));
        line.push((Role::Text, if is_group_end { "  " } else { " " }.to_owned()));
    }
    let end = bytes.len().min(start + per_line);
    line.extend((start..end).map(|at| {
        let text = match bytes[at] {
            byte @ 0x20..0x7f => char::from(byte).to_string(),
            _ => ".".to_owned(),
        };
        (role(at, Role::Faint), text)
    }));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_offset_its_bytes_and_their_text() {
        let bytes = [vec![0; 0x1_0010], b"a\x1b\xc3\xa9~".to_vec()].concat();
        let hit = 0x1_0011..0x1_0013;
        let line = line(&bytes, 0x2002, 8, std::slice::from_ref(&hit));
        let text: String = line.iter().map(|(_, text)| &**text).collect();
        assert_eq!(text, "0001:0010  61 1b c3 a9 7e           a...~");
        let hits = line.iter().filter(|(role, _)| *role == Role::Hit);
        let hits: Vec<_> = hits.map(|(_, text)| &**text).collect();
        assert_eq!(hits, ["1b", "c3", ".", "."]);
        assert_eq!([200, 77, 76, 45, 44, 0].map(per_line), [16, 16, 8, 8, 4, 4]);
    }
}
