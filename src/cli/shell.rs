//! Words as a shell takes them, to be pasted.

use crate::text::escape;
use std::ffi::OsStr;

/// A word that a shell reads back as `word`, in quotes where it needs them. What a terminal would
/// obey is escaped; such a word is for people.
pub fn word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,#".contains(&byte);
    let first = word.bytes().next();
    if first.is_some_and(|byte| byte != b'#') && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", escape(word).replace('\'', r"'\''"))
}

/// A command as it is typed.
pub fn command<W: AsRef<OsStr>>(words: &[W]) -> String {
    let words = words
        .iter()
        .map(|text| word(&text.as_ref().to_string_lossy()));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_take_it_apart() {
        for (text, typed) in [
            ("npx", "npx"),
            ("--dir=/a/b", "--dir=/a/b"),
            ("", "''"),
            ("a b", "'a b'"),
            ("a'; rm -r x", r"'a'\''; rm -r x'"),
            ("$HOME", "'$HOME'"),
            ("~", "'~'"),
            ("#x", "'#x'"),
            ("\u{1b}[2J", r"'\x1b[2J'"),
        ] {
            assert_eq!(word(text), typed);
        }
        assert_eq!(command(&["sh", "-c", "echo 1"]), "sh -c 'echo 1'");
    }
}
