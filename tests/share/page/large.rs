//! A page of fifty thousand exchanges.

use crate::page::browser::Browser;
use crate::page::made::{Made, page, said};
use crate::support::Library;
use serde_json::json;
use std::io::Write as _;

const EXCHANGES: u64 = 50_000;

/// However busy the machine is, a page that takes longer is none that anybody waits for.
const MOST_MS: u64 = 60_000;

/// Tells a measurement, which is no promise.
fn tell(what: &str) {
    let mut stderr = std::io::stderr();
    writeln!(stderr, "{what}").expect("stderr can be written");
}

#[test]
fn fifty_thousand_exchanges_open_and_scroll_to_the_end() {
    let library = Library::new();
    let mut made = Made::start(&library);
    made.handshake("a-host", "a-server");
    for id in 1..EXCHANGES {
        let answer = if id == 44_444 {
            "the zanzibar"
        } else {
            "an answer of some length, as they are"
        };
        let args = json!({ "query": format!("number {id}") });
        made.call(id, (id * 10, id * 10 + 7), "search", &args, &said(answer));
    }
    let page = page(&library, &made.end());
    let size = page.metadata().expect("it is there").len();
    let mut browser = Browser::start();
    browser.open(&page, "");
    let rows = browser.number("performance.getEntriesByName('rows')[0].startTime");
    let whole = browser.number("performance.getEntriesByName('whole')[0].startTime");
    tell(&format!(
        "a page of {EXCHANGES} exchanges, {size} bytes: rows after {rows} ms, all of it after {whole} ms"
    ));
    assert!(rows < MOST_MS && whole < MOST_MS);
    let shown = browser.text("document.getElementById('shown').textContent");
    assert!(shown.starts_with("50\u{202f}00"), "{shown}");
    let in_document = "document.querySelectorAll('.row').length";
    assert!(browser.number(in_document) < 100, "only what is in view");
    browser.js("document.getElementById('list').scrollTop = 1e9");
    let last = format!(
        "[...document.querySelectorAll('.row')].some((row) => row.textContent.includes('number {}'))",
        EXCHANGES - 1
    );
    browser.wait_until(&last);
    assert!(browser.number(in_document) < 100);
    browser.press(&["g", "G", "k", "k"]);
    browser.wait_until("document.querySelector('.row[aria-selected=true]')");
    let began = browser.number("performance.now()");
    browser.press(&["/"]);
    browser.enter("zanzibar");
    browser.wait_until("document.getElementById('shown').textContent.startsWith('1 of')");
    let found = browser.number("performance.now()") - began;
    tell(&format!(
        "a word that stands in one body is found after {found} ms"
    ));
    assert!(found < MOST_MS);
    browser.press(&["Escape", "Escape"]);
    browser.js("location.hash = '#60001'");
    browser.wait_until("document.querySelector('.row[aria-selected=true]')?.dataset.seq >= 60000");
    browser.assert_quiet();
}
