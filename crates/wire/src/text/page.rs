//! What a page says to people.

/// The words of an HTML or XML page, without its tags; those of its title where there are no others.
pub fn words_of(page: &str) -> String {
    let words = without(&["style", "script", "title"], page);
    if words.is_empty() {
        return without(&["style", "script"], page);
    }
    words
}

/// The text of a page without its tags and without these elements.
fn without(hidden: &[&str], page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let (mut text, mut at) = (String::new(), 0);
    while let Some(tag) = page[at..].find('<').map(|found| at + found) {
        text.push_str(&page[at..tag]);
        text.push(' ');
        let end_of_tag = |from: usize| page[from..].find('>').map(|found| from + found + 1);
        let Some(end) = end_of_tag(tag) else {
            at = page.len();
            break;
        };
        let is_hidden = |name: &&&str| {
            lower[tag + 1..end]
                .strip_prefix(**name)
                .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        let closing = hidden.iter().find(is_hidden).and_then(|name| {
            let found = lower[end..].find(&format!("</{name}"))?;
            end_of_tag(end + found)
        });
        at = closing.unwrap_or(end);
    }
    text.push_str(&page[at..]);
    let words: Vec<_> = text.split_whitespace().collect();
    let mut text = words.join(" ");
    for (entity, character) in ENTITIES {
        text = text.replace(entity, character);
    }
    text
}

const ENTITIES: [(&str, &str); 6] = [
    ("&nbsp;", " "),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&amp;", "&"),
];

#[cfg(test)]
mod tests {
    use super::words_of;

    #[test]
    fn a_page_says_what_it_has_besides_tags() {
        for (page, words) in [
            (
                "<!DOCTYPE html><html><head><title>502</title><style>b { c: d }</style></head>\n<BODY>\n<h1>502 Bad Gateway</h1><hr>a &amp; b</body></html>",
                "502 Bad Gateway a & b",
            ),
            (
                "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>",
                "AccessDenied",
            ),
            ("<title>502 Bad Gateway</title>", "502 Bad Gateway"),
            ("<html", ""),
            ("<script>while (1) {}", "while (1) {}"),
        ] {
            assert_eq!(words_of(page), words);
        }
    }
}
