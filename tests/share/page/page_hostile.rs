//! Whatever a peer sends stays text.

use crate::page::browser::Browser;
use crate::page::made::{Made, page};
use crate::support::Library;
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::escape_bytes;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Texts that would be more than text if they could.
const PAYLOADS: [&str; 12] = [
    "<script>window.owned = 1</script>",
    "</script><script>window.owned = 2</script>",
    "<img src=x onerror=\"window.owned = 3\">",
    "<svg onload='window.owned = 4'>",
    "\"><iframe srcdoc=\"<script>parent.owned = 5</script>\">",
    "<!--<script>",
    "]]></style><style>* { display: none }</style>",
    "javascript:window.owned=6",
    "{{constructor.constructor('window.owned=7')()}}",
    "\u{202e}gpj.exe \u{2066}\u{2067}\u{200f}",
    "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{0}\u{8}\u{7f}",
    "line\u{2028}line\u{2029}\u{feff}\u{200b}\u{e0041}\u{ad}",
];

/// Every place in which a peer may say something.
fn recording(library: &Library) -> PathBuf {
    let mut made = Made::start(library);
    let all = PAYLOADS.join(" ");
    made.handshake(&all, &all);
    let mut t = 100;
    for (id, payload) in (1..).zip(PAYLOADS) {
        t += 50;
        let args = json!({ payload: [payload, { payload: payload }] });
        let result = json!({ payload: payload, "content": [{ "type": "text", "text": payload }], "isError": true });
        made.call(id, (t, t + 9), payload, &args, &result);
        let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress",
            "params": { "progressToken": id, "progress": 1, "message": payload } });
        made.say(t + 11, StreamId::S2C, &progress);
        let asked =
            json!({ "jsonrpc": "2.0", "id": payload, "method": payload, "params": payload });
        made.say(t + 12, StreamId::C2S, &asked);
        let error = json!({ "jsonrpc": "2.0", "id": payload, "error": { "code": payload, "message": payload } });
        made.say(t + 13, StreamId::S2C, &error);
        let log = json!({ "jsonrpc": "2.0", "method": "notifications/message",
            "params": { "level": payload, "logger": payload, "data": payload } });
        made.say(t + 14, StreamId::S2C, &log);
        made.line(t + 15, StreamId::STDERR, payload);
        made.line(t + 16, StreamId::S2C, payload);
    }
    made.end()
}

/// Fails if anything but text came of it.
fn assert_text_only(browser: &mut Browser) {
    assert_eq!(browser.js("typeof window.owned"), "undefined");
    let markup = "document.querySelectorAll('img, svg, iframe, object, embed, [onerror], [onload], [srcdoc], \
                  a[href]:not([href^=\"#\"]):not(.about a)').length";
    assert_eq!(browser.number(markup), 0);
    let scripts = "document.querySelectorAll('script:not([type=\"application/json\"])').length";
    assert_eq!(browser.number(scripts), 1, "ours");
    // In what is seen, in what is said aloud, and in the title nothing is obeyed or hidden.
    let hidden = r"
        (() => {
            const bad = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/u;
            const walk = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
            const found = bad.test(document.title) ? [document.title] : [];
            while (walk.nextNode()) {
                const { parentElement, data } = walk.currentNode;
                if (!parentElement.closest('script, style') && bad.test(data)) found.push(data);
            }
            for (const node of document.querySelectorAll('[title], [aria-label]')) {
                if (bad.test(node.title) || bad.test(node.getAttribute('aria-label') || '')) found.push(node.title);
            }
            return JSON.stringify(found);
        })()";
    assert_eq!(browser.text(hidden), "[]");
}

/// Looks at everything that a page has.
fn walk_through(browser: &mut Browser, rows: usize) {
    browser.press(&["g"]);
    for _ in 0..rows {
        browser.js("document.querySelector('.tree') && document.querySelector('.tree [role=treeitem]').dispatchEvent(new KeyboardEvent('keydown', { key: 'o', bubbles: true }))");
        assert_text_only(browser);
        for key in ["r", "b", "b", "b", "r"] {
            browser.press(&[key]);
            assert_text_only(browser);
        }
        browser.press(&["j"]);
    }
    for view in ["4", "5", "1"] {
        browser.press(&[view]);
        assert_text_only(browser);
    }
}

#[test]
fn nothing_that_a_peer_says_runs_is_loaded_or_hides() {
    let library = Library::new();
    let page = page(&library, &recording(&library));
    let mut browser = Browser::start();
    browser.open(&page, "");
    assert_text_only(&mut browser);
    let title = browser.text("document.getElementById('title').textContent");
    assert!(title.contains("<img src=x onerror="), "{title}");
    assert!(title.contains("\\u{202e}gpj.exe"), "{title}");
    let rows = browser.text("document.getElementById('rows').textContent");
    assert!(rows.contains("<script>window.owned = 1</script>"), "{rows}");
    walk_through(&mut browser, 76);
    browser.press(&["/"]);
    browser.enter("<script>window.owned=8</script>");
    assert_text_only(&mut browser);
    browser.press(&["Escape"]);
    browser.enter("<b>:x");
    browser.enter("is:<img src=x onerror=window.owned=9>");
    assert_text_only(&mut browser);
    browser.assert_quiet();
}

/// What the program spells out the page spells out as well, in the same way.
#[test]
fn bytes_are_spelled_out_as_the_program_does() {
    let ranges = [
        (0, 0x300),
        (0x600, 0x620),
        (0x115f, 0x1162),
        (0x17b0, 0x17b8),
        (0x1808, 0x1812),
        (0x2000, 0x2070),
        (0x3160, 0x3168),
        (0xfdc8, 0xfe12),
        (0xfef0, 0xffa2),
        (0xfff0, 0x1_0002),
        (0x1_bc9e, 0x1_bca6),
        (0x1_d170, 0x1_d17c),
        (0x1_fffc, 0x2_0002),
        (0xd_fffe, 0xe_01f2),
        (0x10_fff0, 0x11_0000_u32),
    ];
    let all = ranges.into_iter().flat_map(|(first, end)| first..end);
    let mut line: Vec<u8> = Vec::new();
    for character in all.filter_map(char::from_u32).filter(|&it| it != '\n') {
        line.extend_from_slice(format!("a{character}").as_bytes());
    }
    line.extend_from_slice("e\u{fe0f}\u{fe0f}\u{e0101}\u{fe0e} ".as_bytes());
    line.extend_from_slice(b"\xff\xfe\xc3( \xe2\x82 end\r\n");
    let library = Library::new();
    let mut made = Made::start(&library);
    made.bytes(1, StreamId::STDERR, &line);
    let page = page(&library, &made.end());
    let mut browser = Browser::start();
    browser.open(&page, "#1");
    let shown = browser.text("document.querySelector('.raw').textContent");
    let expected = escape_bytes(&line);
    for (nth, (shown, expected)) in shown.split('a').zip(expected.split('a')).enumerate() {
        assert_eq!(shown, expected, "{nth}");
    }
    assert_eq!(shown.len(), expected.len());
    browser.assert_quiet();
}

#[test]
fn deep_and_long_bodies_are_told_and_do_not_hang_it() {
    let library = Library::new();
    let mut made = Made::start(&library);
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[{}{}]}}",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    made.line(1, StreamId::C2S, &deep);
    let wide: Vec<u32> = (0..30_000).collect();
    made.say(
        2,
        StreamId::S2C,
        &json!({ "jsonrpc": "2.0", "id": 1, "result": { "wide": wide } }),
    );
    let long = "y".repeat(400_000);
    made.say(3, StreamId::S2C, &json!({ "jsonrpc": "2.0", "method": "long", "params": { "first": 1, "text": long, "last": 2 } }));
    let page = page(&library, &made.end());
    let mut browser = Browser::start();
    browser.open(&page, "#2");
    let tree = browser.text("document.getElementById('detail').textContent");
    assert!(tree.contains("30\u{202f}000 items"), "{tree}");
    browser.js("document.querySelectorAll('.tree [role=treeitem]')[0].dispatchEvent(new KeyboardEvent('keydown', { key: 'o', bubbles: true }))");
    let nodes = browser.number("document.querySelectorAll('.node').length");
    assert!(nodes < 5000, "{nodes} nodes");
    browser.js("location.hash = '#1'");
    browser.wait_until("document.querySelector('#detail h2 .seq').textContent === '#1'");
    for _ in 0..3 {
        browser.js("document.querySelectorAll('.tree [role=treeitem]')[0].dispatchEvent(new KeyboardEvent('keydown', { key: 'o', bubbles: true }))");
    }
    assert!(browser.number("document.querySelectorAll('.node').length") < 5000);
    browser.js("location.hash = '#3'");
    browser.wait_until("document.querySelector('.cut')");
    let tree = browser.text("document.getElementById('detail').textContent");
    assert!(
        tree.contains("cut here") && tree.contains("more of this frame are not in this page"),
        "{tree}"
    );
    assert!(
        tree.contains("first: 1") && !tree.contains("last: 2"),
        "what is there of it"
    );
    browser.assert_quiet();
}

#[test]
fn a_page_that_was_cut_short_says_so() {
    let library = Library::new();
    let page = page(&library, &crate::page::made::mixed(&library));
    let whole = std::fs::read_to_string(&page).expect("it is text");
    let at = whole.find("data-kind=\"frames\"").expect("it has frames");
    std::fs::write(&page, &whole[..at + 400]).expect("it can be written");
    let mut browser = Browser::start();
    browser.open(&page, "");
    let notices = browser.text("document.getElementById('notices').textContent");
    assert!(notices.contains("cut short"), "{notices}");
    let rows: Value = browser.js("document.querySelectorAll('.row').length");
    assert!(
        rows.as_u64().is_some_and(|rows| rows > 5),
        "the list is there all the same"
    );
}
