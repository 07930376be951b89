//! Whether a recording says exactly what it has and what it lacks.

use super::{Library, frame_bytes};

/// Fails unless the frames and gaps of `stream` in the newest recording make up exactly `sent`.
/// Returns how many bytes are missing.
pub fn missing_bytes(library: &Library, stream: &str, sent: &[u8]) -> usize {
    let mut gaps = library.events("gap");
    gaps.retain(|gap| gap["stream"] == stream);
    let mut gaps = gaps
        .iter()
        .map(|gap| (size(&gap["offset"]), size(&gap["bytes"])))
        .peekable();
    let mut frames = library.json(&["show", "@", "--frames"]);
    frames.retain(|frame| frame["stream"] == stream);
    let (mut at, mut missing) = (0, 0);
    let mut skip_gaps = |at: &mut usize| {
        while let Some((_, bytes)) = gaps.next_if(|(offset, _)| offset == at) {
            *at += bytes;
            missing += bytes;
        }
    };
    skip_gaps(&mut at);
    for frame in &frames {
        let bytes = frame_bytes(frame);
        assert_eq!(bytes.len(), size(&frame["size"]));
        assert!(sent[at..].starts_with(&bytes), "{stream} at {at}: {frame}");
        at += bytes.len();
        skip_gaps(&mut at);
    }
    assert_eq!(
        gaps.next(),
        None,
        "a gap of {stream} where it has no frame's end"
    );
    assert_eq!(at, sent.len(), "frames and gaps of {stream} add up");
    missing
}

fn size(value: &serde_json::Value) -> usize {
    value
        .as_u64()
        .and_then(|size| usize::try_from(size).ok())
        .expect("it is a size")
}

/// The lines of our own in what came from stderr, and the rest.
pub fn split_warnings(stderr: &[u8]) -> (Vec<String>, Vec<u8>) {
    let text = std::str::from_utf8(stderr).expect("the tests send text");
    let (mut warnings, mut rest) = (Vec::new(), text.to_owned());
    while let Some(from) = rest.find("mcpreel: ") {
        let to = rest[from..]
            .find('\n')
            .map_or(rest.len(), |len| from + len + 1);
        warnings.push(rest.drain(from..to).collect());
    }
    (warnings, rest.into_bytes())
}
