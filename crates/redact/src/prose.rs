//! What reads like a sentence.

/// Words that make a sentence of several.
const PROSE: [&str; 40] = [
    "the",
    "a",
    "an",
    "is",
    "are",
    "was",
    "must",
    "be",
    "should",
    "to",
    "of",
    "for",
    "with",
    "at",
    "least",
    "your",
    "you",
    "please",
    "enter",
    "and",
    "or",
    "not",
    "in",
    "this",
    "that",
    "it",
    "has",
    "have",
    "required",
    "invalid",
    "cannot",
    "characters",
    "can",
    "will",
    "been",
    "on",
    "field",
    "used",
    "if",
    "from",
];

/// Whether it reads like a sentence, or a part of one.
pub(super) fn is_prose(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let count = words.clone().take(3).count();
    let is_of_prose = |word: &str| {
        let word = word.trim_matches(|char: char| !char.is_alphanumeric());
        PROSE.contains(&&*word.to_ascii_lowercase())
    };
    count >= 2 && words.any(is_of_prose)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_prose_makes_a_sentence_of_several() {
        assert!(is_prose("must be at least 8 characters") && is_prose("is required."));
        assert!(!is_prose("the") && !is_prose("correct horse battery staple"));
    }
}
