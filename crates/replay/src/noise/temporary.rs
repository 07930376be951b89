//! Paths of temporary files: what programs have made up in them, and what somebody has chosen.

/// What stands for something that was made up.
const MADE_UP: &str = "\u{0}temporary\u{0}";

/// A path of temporary files with one word in place of each that a program has made up: what else is
/// in it somebody has chosen.
pub(super) fn chosen_parts(path: &str) -> String {
    let parts: Vec<_> = path.split('/').collect();
    // macOS gives each user a folder of two made up names.
    let folders = parts.iter().position(|part| *part == "folders");
    let is_users =
        |at: usize| folders.is_some_and(|folders| (1..=2).contains(&at.wrapping_sub(folders)));
    let told = |(at, part): (usize, &&str)| {
        if is_users(at) {
            MADE_UP.to_owned()
        } else {
            chosen_words(part)
        }
    };
    let parts: Vec<_> = parts.iter().enumerate().map(told).collect();
    parts.join("/")
}

/// A part of a path, likewise: `mkdtemp` and test runners make words that are none, begin them with
/// `tmp`, or count behind a hyphen.
fn chosen_words(part: &str) -> String {
    let mut told = String::new();
    for word in part.split_inclusive(|letter: char| !is_of_word(letter)) {
        let end = word.trim_end_matches(|letter| !is_of_word(letter)).len();
        let (word, sign) = word.split_at(end);
        let is_counted = told.ends_with(['-', '.']) && is_number(word);
        let is_named = word.starts_with("tmp") && word.len() >= 6;
        let is_made_up = is_counted || is_named || word.split('_').any(is_no_word);
        told += if is_made_up { MADE_UP } else { word };
        told += sign;
    }
    told
}

fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether digits, small and capital letters change more often than in names.
fn is_no_word(word: &str) -> bool {
    let kind = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        _ => 2,
    };
    let pairs = word.as_bytes().windows(2);
    let changes = pairs.filter(|pair| kind(pair[0]) != kind(pair[1])).count();
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let in_names = if has_digit { 1 } else { word.len() / 2 };
    word.len() >= 6 && (is_number(word) || changes > in_names)
}
