//! A value that is known, in the codes in which it stands elsewhere: nothing of the code is left,
//! wherever in it the value begins, and whatever stands before and after it.

use crate::redact::corpus::Session;
use crate::redact::engine::{policy, redacted};
use crate::support::dice::Dice;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use mcpreel_trace::frame::StreamId;
use std::ops::Range;

/// Letters in a row that would tell something of the value.
const TELLING: usize = 4;

/// A value with other bytes around it, of which its letters are these.
struct Coded {
    text: String,
    letters: Range<usize>,
}

fn base64(before: &[u8], value: &[u8], after: &[u8], how: u64) -> Coded {
    let bytes = [before, value, after].concat();
    let text = match how {
        0 => STANDARD.encode(bytes),
        1 => STANDARD_NO_PAD.encode(bytes),
        2 => URL_SAFE.encode(bytes),
        _ => URL_SAFE_NO_PAD.encode(bytes),
    };
    let end = ((before.len() + value.len()) * 8).div_ceil(6);
    Coded {
        text,
        letters: before.len() * 8 / 6..end,
    }
}

fn hex(before: &[u8], value: &[u8], after: &[u8], is_large: bool) -> Coded {
    let bytes = [before, value, after].concat();
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    let text: String = digits.collect();
    Coded {
        text: if is_large {
            text.to_ascii_uppercase()
        } else {
            text
        },
        letters: 2 * before.len()..2 * (before.len() + value.len()),
    }
}

fn bytes(dice: &mut Dice, most: usize, is_one: fn(u8) -> bool) -> Vec<u8> {
    let length = dice.length_below(most);
    let any = std::iter::repeat_with(|| u8::try_from(dice.below(256)).unwrap());
    any.filter(|byte| is_one(*byte)).take(length).collect()
}

/// A value that is looked for elsewhere.
fn value(dice: &mut Dice) -> Vec<u8> {
    let is_one =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'?' | b'~' | b'/' | b'+');
    let rest = bytes(dice, 72, is_one);
    [b"k3Jd8f?~", &rest[..]].concat()
}

fn check(seed: u64) {
    let mut dice = Dice(seed);
    let value = value(&mut dice);
    let around = [(); 2].map(|()| bytes(&mut dice, 9, |_| true));
    let coded = match dice.below(6) {
        how @ 0..4 => base64(&around[0], &value, &around[1], how),
        how => hex(&around[0], &value, &around[1], how == 4),
    };
    let lead = ["", "sent ", "/files/", "k=", "x/ab-", "\\\"", ":"];
    let lead = lead[dice.length_below(lead.len())];
    let said = String::from_utf8_lossy(&value);
    let frames = [
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"password":"{said}"}}}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{lead}{} end"}}}}"#,
            coded.text
        ),
    ];
    let frames = frames.map(|frame| (StreamId::S2C, frame.into_bytes()));
    let session = Session {
        frames: frames.to_vec(),
        ..Session::default()
    };
    let (after, _) = redacted(&session, &policy());
    let shown = String::from_utf8_lossy(&after.frames[1].1);
    let letters = coded.text.as_bytes()[coded.letters.clone()].windows(TELLING);
    for part in letters.map(String::from_utf8_lossy) {
        assert!(
            !shown.contains(&*part),
            "{part} of {} is left, seed {seed}\n{said}\n{shown}",
            coded.text
        );
    }
}

#[test]
fn nothing_is_left_of_a_known_value_in_base64_or_hex_digits() {
    (0..300).for_each(check);
    let seed = Dice::shaken().0;
    (seed >> 1..(seed >> 1) + 100).for_each(check);
}
