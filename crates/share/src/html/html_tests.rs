//! The page as a text: what stands where, and what does not.

use super::*;
use crate::export::{Excerpt, Selection};
use crate::written::Session;
use mcpreel_store::annotate::{set_mark, set_note};
use mcpreel_store::reader::Recording;
use mcpreel_store::recovery;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::{Seq, StreamId};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What a peer says who wants to be more than text.
const HOSTILE: &str = "</script><script>document.title='owned'</script><!--\\u003cb\\u003e&lt;\
    <img src=x onerror=alert(1)>";

struct Made {
    _dir: TempDir,
    recording: Recording,
}

fn made(lines: &[(StreamId, String)]) -> Made {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "server", 7);
    for (stream, line) in lines {
        session.chunk(*stream, line.as_bytes());
    }
    session.end();
    let reel = session.reel.clone();
    session.die();
    recovery::bring_up_to_date(&reel, Clock::start(), &mut |_| ()).unwrap();
    let recording = Recording::open(&reel).unwrap();
    Made {
        _dir: dir,
        recording,
    }
}

fn call(id: u64, tool: &str) -> (StreamId, String) {
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":{tool:?}}}}}\n"
    );
    (StreamId::C2S, line)
}

fn answer(id: u64, text: &str) -> (StreamId, String) {
    let text = serde_json::to_string(text).unwrap();
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}\n"
    );
    (StreamId::S2C, line)
}

fn noise(text: &str) -> (StreamId, String) {
    (StreamId::STDERR, format!("{text}\n"))
}

fn page_of(recording: &Recording, selection: &Selection) -> (String, Written) {
    let mut page = Vec::new();
    let written = written(Excerpt::of(recording, selection), &mut page).unwrap();
    (String::from_utf8(page).unwrap(), written)
}

fn written(excerpt: Excerpt<'_>, out: &mut impl Write) -> Result<Written, ExportError> {
    let progress = &mut |_| Ok(());
    write(Export {
        excerpt,
        out,
        progress,
    })
}

fn all() -> Selection {
    Selection::between(None, None)
}

#[test]
fn what_people_put_on_frames_is_in_it_as_text() {
    let made = made(&[call(1, "a"), answer(1, "x"), call(2, "b"), noise("c")]);
    let reel = made.recording.path();
    set_mark(reel, Seq(1), Some("")).unwrap();
    set_note(reel, Some(Seq(1)), Some(HOSTILE)).unwrap();
    set_mark(reel, Seq(3), Some("odd")).unwrap();
    set_note(reel, Some(Seq(4)), Some(&"long ".repeat(2000))).unwrap();
    let (page, _) = page_of(&made.recording, &all());
    assert!(!page.contains(HOSTILE) && !page.contains("<img"), "{page}");
    let notes = values(&page, "notes");
    assert_eq!(notes.len(), 3);
    assert_eq!(notes[0], json!({"n": 1, "mark": "", "note": HOSTILE}));
    assert_eq!(notes[1], json!({"n": 3, "mark": "odd"}));
    let long = notes[2]["note"].as_str().unwrap();
    assert!(long.len() < 5000 && long.ends_with('…'), "{}", long.len());
    // Of a part of it only what is in that.
    let (page, _) = page_of(
        &made.recording,
        &Selection::between(Some(Seq(3)), Some(Seq(3))),
    );
    assert_eq!(values(&page, "notes"), [json!({"n": 3, "mark": "odd"})]);
}

fn values(page: &str, kind: &str) -> Vec<Value> {
    let head = format!("data-kind=\"{kind}\"");
    let blocks = page.split("<script ").filter(|block| block.contains(&head));
    let json = blocks.filter_map(|block| {
        let (_, rest) = block.split_once('>')?;
        rest.split_once("</script>")
    });
    let values = json.flat_map(|(json, _)| serde_json::from_str::<Vec<Value>>(json).unwrap());
    values.collect()
}

/// The numbers of the rows of these kinds.
fn rows(page: &str, kinds: &[&str]) -> Vec<u64> {
    let mut rows = values(page, "rows");
    rows.retain(|row| kinds.contains(&row["k"].as_str().unwrap()));
    rows.iter().filter_map(|row| row["n"].as_u64()).collect()
}

#[test]
fn nothing_that_a_peer_says_becomes_a_part_of_the_page() {
    let made = made(&[
        call(1, HOSTILE),
        answer(1, HOSTILE),
        noise(HOSTILE),
        (StreamId::S2C, format!("{HOSTILE}\n")),
    ]);
    let (page, _) = page_of(&made.recording, &all());
    let tags = |text: &str| {
        let tags = text.match_indices('<').map(|(at, _)| &text[at..]);
        let mut names: Vec<_> = tags
            .map(|tag| tag.split_once('>').map_or(tag, |(tag, _)| tag).to_owned())
            .filter(|tag| !tag.starts_with("<script type=\"application/json\""))
            .collect();
        names.sort();
        names
    };
    let (empty, _) = page_of(&self::made(&[]).recording, &all());
    let mut expected = tags(&empty);
    // Each block of data has one more end, and nothing else is there that is not always there.
    let blocks = |page: &str| page.matches("<script type=\"application/json\"").count();
    let more = blocks(&page) - blocks(&empty);
    expected.extend(std::iter::repeat_n("</script".to_owned(), more));
    expected.sort();
    assert_eq!(tags(&page), expected);
    let frames = values(&page, "frames");
    assert_eq!(frames[2][1].as_str().unwrap(), format!("{HOSTILE}\n"));
}

#[test]
fn rows_are_what_the_list_of_the_viewer_has() {
    let progress = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":5,\"progress\":1}}\n";
    let asked = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"_meta\":{\"progressToken\":5}}}\n";
    let made = made(&[
        (StreamId::C2S, asked.to_owned()),
        (StreamId::S2C, progress.to_owned()),
        noise("meanwhile"),
        answer(1, "done"),
        answer(9, "nobody asked"),
        (StreamId::S2C, "no JSON\n".to_owned()),
    ]);
    let (page, written) = page_of(&made.recording, &all());
    assert_eq!((written.frames, written.left_out), (6, 0));
    assert_eq!(rows(&page, &["request"]), [1]);
    assert_eq!(rows(&page, &["stderr"]), [3]);
    assert_eq!(rows(&page, &["response"]), [5]);
    assert_eq!(rows(&page, &["other"]), [6]);
    let all_rows = values(&page, "rows");
    let of = |n: u64| all_rows.iter().find(|row| row["n"] == n).unwrap();
    assert_eq!(of(1)["s"], "ok");
    assert_eq!(of(1)["re"], serde_json::json!([4, 0]));
    assert_eq!(of(2)["folded"], true, "progress belongs to its call");
    assert_eq!(of(2)["x"], of(1)["x"]);
    assert_eq!(of(3).get("folded"), None);
    let found = values(&page, "findings");
    let rules: Vec<_> = values(&page, "rules");
    assert!(found.iter().any(|finding| finding["n"] == 6));
    for finding in &found {
        let rule = rules.iter().find(|rule| rule["id"] == finding["rule"]);
        assert!(rule.is_some_and(|rule| rule["fix"] != ""), "{finding}");
    }
}

#[test]
fn what_is_not_selected_is_nowhere_in_the_page() {
    let made = made(&[
        call(1, "a-tool"),
        (StreamId::S2C, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"kept answer\"}}\n".to_owned()),
        call(2, "zanzibar"),
        answer(2, "zanzibar"),
        noise("zanzibar"),
        (StreamId::S2C, "zanzibar, no JSON\n".to_owned()),
    ]);
    let (page, written) = page_of(&made.recording, &Selection::between(None, Some(Seq(2))));
    assert_eq!((written.frames, written.left_out), (2, 4));
    assert!(page.contains("kept answer"));
    assert!(
        !page.contains("zanzibar"),
        "neither frame, row, finding nor cause"
    );
    let session = &values(&page, "session")[0];
    assert_eq!(
        session["notices"][0],
        "a part of the recording: to #2; the whole has 6 frames"
    );
    let (asked, _) = page_of(&made.recording, &Selection::between(None, Some(Seq(1))));
    assert!(asked.contains("a-tool") && !asked.contains("kept answer"));
    let two = Some(Seq(2));
    let (answered, _) = page_of(&made.recording, &Selection::between(two, two));
    assert!(answered.contains("kept answer") && !answered.contains("a-tool"));
    let (page, _) = page_of(&made.recording, &all());
    assert!(page.contains("zanzibar"));
    assert_eq!(
        values(&page, "session")[0]["notices"],
        serde_json::json!([])
    );
}

#[test]
fn a_long_frame_is_cut_and_says_how_much_is_left_out() {
    let limit = usize::try_from(FRAME_BYTES).unwrap();
    for size in [limit + 1000, 3 * 1024 * 1024] {
        let made = made(&[call(1, "long"), answer(1, &"é".repeat(size / 2))]);
        let (page, _) = page_of(&made.recording, &all());
        let frame = &values(&page, "frames")[1];
        let (kept, left_out) = (frame[1].as_str().unwrap(), frame[2].as_u64().unwrap());
        assert!(kept.len() <= limit && kept.len() > limit - 4);
        let head = made.recording.head(Seq(2)).unwrap().unwrap();
        assert_eq!(kept.len() as u64 + left_out, head.size);
        assert!(page.len() < 2 * limit + 200_000, "{}", page.len());
    }
}

#[test]
fn of_a_recording_that_grows_nothing_is_told_that_came_later() {
    let made = made(&[call(1, "early"), noise("x"), answer(1, "zanzibar")]);
    let mut page = Vec::new();
    let all = all();
    let early = Excerpt {
        last: Seq(2),
        ..Excerpt::of(&made.recording, &all)
    };
    written(early, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let rows = values(&page, "rows");
    let row = rows.iter().find(|row| row["k"] == "request").unwrap();
    assert_eq!((&row["s"], row.get("re")), (&"open".into(), None));
    assert_eq!(values(&page, "frames").len(), 2);
    assert!(!page.contains("zanzibar"), "{row}");
}

#[test]
fn a_page_is_marked_as_whole_at_its_end_only() {
    let made = made(&[call(1, "a"), answer(1, "b")]);
    let (page, _) = page_of(&made.recording, &all());
    let end = page.find("data-kind=\"end\"").unwrap();
    assert!(page[end..].len() < 80 && page.ends_with("</html>\n"));
}

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
