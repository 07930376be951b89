//! What is around the data: the files in `page/`, and the policy that names them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use sha2::{Digest as _, Sha256};
use std::io::{self, Write};

const SKELETON: &str = include_str!("page/page.html");

pub(super) const STYLE: &str = concat!(
    include_str!("page/page.css"),
    include_str!("page/list.css"),
    include_str!("page/detail.css"),
    include_str!("page/print.css"),
);

/// The script: its files, in one scope of their own.
pub(super) const SCRIPT: &str = concat!(
    "(() => {\n'use strict';\n",
    include_str!("page/text.js"),
    include_str!("page/json.js"),
    include_str!("page/data.js"),
    include_str!("page/filter.js"),
    include_str!("page/search.js"),
    include_str!("page/list.js"),
    include_str!("page/waterfall.js"),
    include_str!("page/tree.js"),
    include_str!("page/story.js"),
    include_str!("page/detail.js"),
    include_str!("page/session.js"),
    include_str!("page/keys.js"),
    include_str!("page/main.js"),
    "})();\n",
);

pub(super) fn head(out: &mut impl Write) -> io::Result<()> {
    let policy = policy();
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"generator\" content=\"mcpreel {}\">\n\
         <title>mcpreel recording</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{SKELETON}",
        env!("CARGO_PKG_VERSION")
    )
}

/// The script, which shows what stands before it.
pub(super) fn script(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "<script>{SCRIPT}</script>")
}

/// The end of the page. The mark tells a page that is whole from one that was cut.
pub(super) fn end(out: &mut impl Write) -> io::Result<()> {
    out.write_all(
        b"<script type=\"application/json\" data-kind=\"end\">[]</script>\n</body>\n</html>\n",
    )
}

/// Nothing may be loaded, sent or run but this script and this style.
fn policy() -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; \
         form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}

fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_script_nor_style_nor_skeleton_has_anything_in_it_that_a_policy_refuses() {
        for text in [SCRIPT, STYLE] {
            let text = text.to_lowercase();
            assert!(!text.contains("</s") && !text.contains("<!--"));
            assert!(!text.contains("http:") && !text.contains("https:"));
        }
        let markup = SKELETON.to_lowercase();
        let tags = markup.split('<').filter_map(|text| text.split_once('>'));
        for (tag, _) in tags {
            assert!(
                !["script", "style", "link"]
                    .iter()
                    .any(|name| tag.starts_with(name))
            );
            for attribute in tag.split_whitespace().skip(1) {
                let is_bad = ["on", "style=", "src=", "href="];
                assert!(
                    !is_bad.iter().any(|bad| attribute.starts_with(bad)),
                    "{tag}"
                );
            }
        }
    }

    #[test]
    fn the_script_makes_text_and_never_markup() {
        let makers = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "createContextualFragment",
            "DOMParser",
            "srcdoc",
            "eval(",
            "new Function",
            "fetch(",
            "XMLHttpRequest",
            "WebSocket",
            "import(",
        ];
        for maker in makers {
            assert!(!SCRIPT.contains(maker), "{maker}");
        }
    }

    #[test]
    fn files_of_the_page_are_short() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/formats/html/page");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let lines = std::fs::read_to_string(&path).unwrap().lines().count();
            assert!(lines < 300, "{} has {lines} lines", path.display());
        }
    }
}
