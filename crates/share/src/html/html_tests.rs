//! The page as a text: what stands where, and what does not.

use super::*;
use crate::export::{Excerpt, Selection};
use crate::written::Session;
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::{Seq, StreamId};
use serde_json::Value;
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
    let recording = Recording::open(&session.finish()).unwrap();
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
