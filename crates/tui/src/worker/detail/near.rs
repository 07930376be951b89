//! What a mock had instead: of a request that stood for nothing on record, the recorded ones that
//! come nearest, as the mock itself has said.

use super::{Text, TextRole};
use mcpreel_replay::mock::matcher::{MARK, NAMED};
use mcpreel_store::values::is_id;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Value};

const PATHS: usize = 10;

/// A recorded request that comes near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    pub recording: String,
    pub seq: Seq,
    pub distance: u64,
    /// Where, as far as that was said. As on the wire.
    pub paths: Vec<String>,
    /// Whether it was served all the same.
    pub is_served: bool,
}

/// What the answer among `texts` says of it. It is what a stranger's file says, and taken only as
/// far as it makes sense.
pub(super) fn of(texts: &[Text]) -> Vec<Near> {
    let mut answers = texts.iter().filter(|text| text.role == TextRole::Response);
    let Some(answer) = answers.next() else {
        return Vec::new();
    };
    let Ok(document) = Document::parse(&answer.bytes) else {
        return Vec::new();
    };
    let root = document.root();
    let missed = root.get("error").and_then(|error| error.get("data"));
    if let Some(list) = missed.and_then(|data| data.get("nearest")) {
        let near = list.elements().take(NAMED);
        return near.filter_map(|near| read(near, false)).collect();
    }
    let meta = root.get("result").and_then(|result| result.get("_meta"));
    let served = meta.and_then(|meta| meta.get(MARK));
    served
        .and_then(|near| read(near, true))
        .into_iter()
        .collect()
}

fn read(near: Value<'_>, is_served: bool) -> Option<Near> {
    let recording = near.get("recording")?.as_str()?.into_owned();
    let number = |name: &str| near.get(name)?.number_text()?.parse::<u64>().ok();
    let paths = near.get("paths").into_iter();
    let paths = paths.flat_map(|paths| paths.elements()).take(PATHS);
    let paths = paths.filter_map(|path| Some(path.as_str()?.into_owned()));
    Some(Near {
        recording: Some(recording).filter(|id| is_id(id))?,
        seq: number("seq").filter(|seq| *seq > 0).map(Seq)?,
        distance: number("distance").unwrap_or(0),
        paths: paths.collect(),
        is_served,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::detail::Violations;
    use mcpreel_trace::item::ItemKey;

    fn near(answer: &str) -> Vec<Near> {
        of(&[Text {
            role: TextRole::Response,
            key: ItemKey::of_part(Seq(1), 0),
            head: None,
            size: answer.len() as u64,
            bytes: answer.as_bytes().into(),
            tree: None,
            violations: Violations::default(),
        }])
    }

    #[test]
    fn what_a_mock_said_of_a_miss_is_read() {
        let found = near(
            r#"{"error":{"code":-32000,"data":{"nearest":[{"recording":"7f3a9c21","seq":23,"distance":2,"paths":["params.a","params.b"]}]}}}"#,
        );
        let expected = Near {
            recording: "7f3a9c21".into(),
            seq: Seq(23),
            distance: 2,
            paths: vec!["params.a".into(), "params.b".into()],
            is_served: false,
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn what_makes_no_sense_is_passed_over() {
        for answer in [
            "no JSON",
            r#"{"error":{"data":{"nearest":7}}}"#,
            r#"{"error":{"data":{"nearest":[7,{},{"recording":"../x","seq":1}]}}}"#,
            r#"{"error":{"data":{"nearest":[{"recording":"7f3a9c21","seq":0}]}}}"#,
            r#"{"error":{"data":{"nearest":[{"recording":"7f3a9c21","seq":-1e9}]}}}"#,
            r#"{"result":{"_meta":{}}}"#,
        ] {
            assert_eq!(near(answer), [], "{answer}");
        }
        let many = r#"{"recording":"7f3a9c21","seq":1},"#.repeat(100);
        let many = format!(
            r#"{{"error":{{"data":{{"nearest":[{}]}}}}}}"#,
            many.trim_end_matches(',')
        );
        assert_eq!(near(&many).len(), NAMED);
    }
}
