//! A text as a JSON string.

use super::scan;

/// Adds `text` as a JSON string, quotes included. What needs no escape is found and copied many
/// bytes at a time: most texts that are long need few.
pub fn quote(text: &str, into: &mut Vec<u8>) {
    into.reserve(text.len() + text.len() / 8 + 2);
    into.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, stop) = rest.split_at(scan::plain_run(rest));
        into.extend_from_slice(plain);
        let Some((byte, after)) = stop.split_first() else {
            break;
        };
        escape(*byte, into);
        rest = after;
    }
    into.push(b'"');
}

/// Adds the escape of a quote, a backslash or a control character.
fn escape(byte: u8, into: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\x08' => b'b',
        b'\x0c' => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let digit = |half: u8| DIGITS[usize::from(half)];
            into.extend_from_slice(b"\\u00");
            into.extend_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
            return;
        }
    };
    into.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_quoted_text_is_what_serde_makes_of_it(
            text in prop::collection::vec(
                prop_oneof![9 => Just('a'), 2 => any::<char>(), 1 => prop::char::range('\0', '\x7f')],
                0..240,
            )
        ) {
            let text: String = text.into_iter().collect();
            let mut quoted = Vec::new();
            quote(&text, &mut quoted);
            prop_assert_eq!(quoted, serde_json::to_vec(&text).unwrap());
        }
    }
}
