//! What a reader sees and does.

use crate::page::browser::Browser;
use crate::page::made::{mixed, page};
use crate::support::Library;
use mcpreel_store::annotate::{set_mark, set_note};
use mcpreel_trace::frame::Seq;
use std::collections::BTreeSet;

/// The text of a part of the page.
fn text(browser: &mut Browser, selector: &str) -> String {
    browser.text(&format!(
        "[...document.querySelectorAll({selector:?})].map((node) => node.textContent).join('|')"
    ))
}

/// The numbers of the rows in view.
fn seqs(browser: &mut Browser) -> String {
    text(browser, ".row .seq")
}

/// The number of the row that is selected.
fn selected(browser: &mut Browser) -> String {
    text(browser, ".row[aria-selected=true] .seq")
}

fn set_filter(browser: &mut Browser, filter: &str) {
    browser.press(&["/"]);
    browser.enter(filter);
}

fn set_status(browser: &mut Browser, status: &str) {
    browser.js(&format!(
        "(() => {{ const box = document.getElementById('status'); box.value = {status:?}; \
         box.dispatchEvent(new Event('change')); }})()"
    ));
}

/// A browser on the page of a session with something of everything.
fn opened(library: &Library, place: &str) -> Browser {
    let page = page(library, &mixed(library));
    let mut browser = Browser::start();
    browser.open(&page, place);
    browser
}

#[test]
fn the_list_says_who_what_and_how_it_ended() {
    let library = Library::new();
    let mut browser = opened(&library, "");
    assert_eq!(
        text(&mut browser, "#title .server"),
        "server (a-server 2.0)"
    );
    assert_eq!(text(&mut browser, "#title .client"), "a-host 1.0");
    assert_eq!(text(&mut browser, "#redaction"), "NOT redacted");
    let facts = text(&mut browser, "#facts");
    for fact in ["ended, exit 0", "legacy 2025-11-25", "6 calls", "1 failed"] {
        assert!(facts.contains(fact), "{facts}");
    }
    let why = text(&mut browser, "#why");
    assert!(why.contains("quota exceeded"), "{why}");
    assert_eq!(seqs(&mut browser), "1|3|4|5|7|9|11|13|15|16||");
    let rows = text(&mut browser, ".row");
    for said in [
        "search {q:\"rust\"}",
        "842 ms",
        "tool-error",
        "listening",
        "no JSON-RPC",
    ] {
        assert!(rows.contains(said), "{said}: {rows}");
    }
    let bars = browser.number("document.querySelectorAll('.row .bars .bar').length");
    assert_eq!(bars, 6, "one for each exchange");
    assert!(browser.number("document.querySelectorAll('.bars .tick').length") >= 1);
    browser.assert_quiet();
}

#[test]
fn marks_and_notes_stand_in_the_row_and_in_the_detail() {
    let library = Library::new();
    let reel = mixed(&library);
    set_mark(&reel, Seq(5), Some("odd")).expect("it can be marked");
    set_note(&reel, Some(Seq(8)), Some("<b>why?</b>\u{202e}")).expect("it can be noted");
    set_mark(&reel, Seq(10), Some("")).expect("it can be marked");
    let mut browser = Browser::start();
    browser.open(&page(&library, &reel), "#7");
    let remarks = text(&mut browser, ".row .remark");
    // The answer is in the row of its request, and progress in that of its call.
    assert_eq!(remarks, "★odd|✎<b>why?</b>\\u{202e}|★");
    let head = text(&mut browser, "#detail .noted");
    assert_eq!(head, "✎<b>why?</b>\\u{202e}#8");
    set_status(&mut browser, "marked or noted");
    assert_eq!(seqs(&mut browser), "5|7|9");
    browser.assert_quiet();
}

#[test]
fn a_text_and_a_status_take_rows_away() {
    let library = Library::new();
    let reel = mixed(&library);
    let mut browser = Browser::start();
    browser.open(&page(&library, &reel), "");
    for (filter, rows) in [
        ("needle", "7"),
        ("quota exceeded", "13"),
        ("Needle", ""),
        ("TOOLS/CALL", ""),
    ] {
        set_filter(&mut browser, filter);
        assert_eq!(seqs(&mut browser), rows, "{filter}");
        browser.press(&["Escape", "Escape"]);
    }
    for (status, rows) in [("failed", "13"), ("tool-error", "13")] {
        set_status(&mut browser, status);
        assert_eq!(seqs(&mut browser), rows, "{status}");
    }
    let reel = reel.to_str().expect("the path is text");
    let found: BTreeSet<_> = library
        .json(&["show", reel, "--findings"])
        .iter()
        .filter_map(|finding| finding["request"].as_u64().or(finding["frame"].as_u64()))
        .collect();
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert!(!found.is_empty());
    set_status(&mut browser, "with a finding");
    assert_eq!(seqs(&mut browser), found.join("|"));
    browser.assert_quiet();
}

#[test]
fn a_tree_shows_what_stood_on_the_wire_and_folds() {
    let library = Library::new();
    let mut browser = opened(&library, "#5");
    let tree = text(&mut browser, "#detail .leaf");
    for exact in [
        "maximum: 1.50e+3",
        "minimum: 90071992547409931234",
        "minimum: 0.10",
    ] {
        assert!(tree.contains(exact), "{exact}: {tree}");
    }
    let leaves =
        |browser: &mut Browser| browser.number("document.querySelectorAll('.leaf').length");
    let before = leaves(&mut browser);
    browser.press(&["Enter"]);
    assert_eq!(
        browser.text("document.activeElement.getAttribute('role')"),
        "treeitem"
    );
    browser.press(&["ArrowLeft"]);
    let folded = leaves(&mut browser);
    assert!(folded < before);
    let is_expanded = "document.activeElement.getAttribute('aria-expanded')";
    assert_eq!(browser.text(is_expanded), "false");
    browser.press(&["ArrowRight", "ArrowDown", "ArrowDown"]);
    assert_eq!(leaves(&mut browser), before);
    assert_eq!(text(&mut browser, "footer.path"), "id");
    browser.press(&["r"]);
    let raw = text(&mut browser, ".raw");
    assert!(
        raw.contains("\"minimum\":90071992547409931234,\"minimum\":0.10"),
        "{raw}"
    );
    assert!(raw.ends_with("\\n"), "the end of the line as well");
    browser.assert_quiet();
}

#[test]
fn it_can_be_walked_through_by_keys() {
    let library = Library::new();
    let mut browser = opened(&library, "");
    let hidden = "document.getElementById('detail').hidden";
    assert_eq!(browser.js(hidden), true);
    browser.press(&["j", "j", "j"]);
    let third = selected(&mut browser);
    browser.press(&["ArrowDown", "k"]);
    assert_eq!(selected(&mut browser), third);
    browser.press(&["g", "v"]);
    assert_eq!(selected(&mut browser), "5", "a finding");
    browser.press(&["e"]);
    assert_eq!(selected(&mut browser), "13", "a failure");
    assert_eq!(browser.text("location.hash"), "#13");
    browser.press(&["v"]);
    assert_eq!(selected(&mut browser), "15", "a finding");
    browser.press(&["E", "]"]);
    assert_eq!(selected(&mut browser), "13");
    let story = text(&mut browser, ".story li");
    assert!(story.contains("quota exceeded"), "{story}");
    browser.press(&["Escape"]);
    assert_eq!(browser.js(hidden), true);
    browser.press(&["!"]);
    assert_eq!(seqs(&mut browser), "13");
    browser.press(&["Escape"]);
    assert!(seqs(&mut browser).contains('7'));
    browser.press(&["4"]);
    let findings = text(&mut browser, "#view-findings article");
    assert!(
        findings.contains("frame-not-json") && findings.contains("fix"),
        "{findings}"
    );
    browser.press(&["5"]);
    let session = text(&mut browser, "#view-session");
    assert!(
        session.contains("quota exceeded") && session.contains("a-host 1.0"),
        "{session}"
    );
    browser.press(&["1", "?"]);
    assert_eq!(browser.js("document.getElementById('help').open"), true);
    let help = text(&mut browser, "#help");
    for told in ["next row", "progress"] {
        assert!(help.contains(told), "{told}");
    }
    browser.press(&["Escape", "G"]);
    assert_eq!(browser.js("document.getElementById('help').open"), false);
    let last = "document.querySelector('.row[aria-selected=true]') === document.querySelector('.row:last-of-type')";
    assert_eq!(browser.js(last), true);
    browser.assert_quiet();
}

#[test]
fn a_call_has_its_story() {
    let library = Library::new();
    let mut browser = opened(&library, "#10");
    assert_eq!(selected(&mut browser), "9", "progress is shown by its call");
    browser.press(&["]"]);
    let story = text(&mut browser, ".story li");
    for told in [
        "+0 ms#9→request",
        "+500 ms#10←notification",
        "halfway",
        "#11stderrmeanwhile",
        "+1.0 s#12←response",
    ] {
        assert!(story.contains(told), "{told}: {story}");
    }
    browser.js("document.querySelector('.story a[href=\"#11\"]').click()");
    browser
        .wait_until("document.querySelector('.row[aria-selected=true] .seq').textContent === '11'");
    assert_eq!(text(&mut browser, ".raw"), "meanwhile\\n");
    browser.assert_quiet();
}

#[test]
fn light_and_dark_on_a_screen_of_any_width() {
    let library = Library::new();
    let page = page(&library, &mixed(&library));
    let mut browser = Browser::start();
    let ground = "getComputedStyle(document.body).backgroundColor";
    let mut grounds = Vec::new();
    for scheme in ["light", "dark"] {
        browser.scheme(scheme);
        for (width, height) in [(1400, 900), (900, 900), (390, 844)] {
            browser.size(width, height);
            browser.open(&page, "");
            grounds.push(browser.text(ground));
            let overflow = "document.documentElement.scrollWidth <= innerWidth";
            assert_eq!(browser.js(overflow), true, "{scheme} {width}");
            browser.press(&["v"]);
            let shown =
                "['left', 'detail'].filter((id) => document.getElementById(id).offsetWidth).length";
            let panes = if width < 700 { 1 } else { 2 };
            assert_eq!(browser.number(shown), panes, "{scheme} {width}");
            assert_eq!(browser.js(overflow), true, "{scheme} {width}");
            browser.assert_quiet();
        }
    }
    assert_eq!(grounds[0], grounds[2]);
    assert_ne!(grounds[0], grounds[3]);
}
