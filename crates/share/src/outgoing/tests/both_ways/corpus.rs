//! The corpus of redaction, both ways: what is said in its cases is said in calls, in their answers
//! and on lines of their own.

use super::told::{PLAIN, Step, told_with};
use super::{Derived, made_both_ways};
use mcpreel_trace::frame::StreamId;
use std::collections::BTreeMap;
use std::path::Path;

/// Taken out of every row: with it, nobody takes the corpus for a leak.
const BREAK: char = '¦';

struct Case {
    rows: Vec<(StreamId, String)>,
    secrets: Vec<String>,
}

fn files() -> Vec<(String, Vec<Case>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/redact");
    let folders = ["planted", "alike"].map(|folder| root.join(folder).read_dir().unwrap());
    let files = folders
        .into_iter()
        .flatten()
        .map(|file| file.unwrap().path());
    let named = files.map(|file| (file.display().to_string(), read(&file)));
    named.collect()
}

fn read(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).unwrap().replace(BREAK, "");
    let read: toml::Table = toml::from_str(&text).unwrap();
    let strings = |value: &toml::Value| {
        let all = value.as_array().unwrap().iter();
        all.map(|one| one.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let row = |row: &toml::Value| {
        let [place, said] = <[String; 2]>::try_from(strings(row)).unwrap();
        let mut streams = StreamId::STDIO.into_iter();
        let stream = streams.find(|stream| stream.as_str() == place)?;
        Some((stream, said))
    };
    // What the process knows is told elsewhere.
    let case = |case: &toml::Value| {
        let rows = case["rows"].as_array().unwrap().iter().map(row);
        Some(Case {
            rows: rows.collect::<Option<_>>()?,
            secrets: case.get("secrets").map_or_else(Vec::new, strings),
        })
    };
    read["case"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(case)
        .collect()
}

/// Whether a case is told in messages alone, so that each of them can be told within another.
fn is_of_messages(case: &Case) -> bool {
    case.rows
        .iter()
        .all(|(stream, _)| *stream != StreamId::STDERR)
}

#[test]
fn what_is_said_in_the_corpus_is_the_same_both_ways() {
    let mut ways: BTreeMap<String, usize> = BTreeMap::new();
    for (name, mut cases) in files() {
        for own_lines in [true, false] {
            cases.retain(|case| own_lines || is_of_messages(case));
            let rows = cases.iter().flat_map(|case| case.rows.clone());
            let secrets = cases.iter().flat_map(|case| &case.secrets);
            let (rows, secrets): (Vec<_>, Vec<_>) =
                (rows.collect(), secrets.map(|it| &**it).collect());
            let dir = tempfile::tempdir().unwrap();
            let steps = [Step::Plain(PLAIN), Step::Plain(PLAIN)];
            let reel = told_with(dir.path(), &steps, (&rows, own_lines));
            let way = made_both_ways(&reel, &secrets);
            let way = way.unwrap_or_else(|error| panic!("{name}: {error}"));
            *ways.entry(format!("{way:?}")).or_default() += 1;
        }
    }
    for way in [Derived::Copied, Derived::Anew] {
        let times = ways.get(&format!("{:?}", Some(way)));
        assert!(times.is_some_and(|times| *times >= 3), "{ways:?}");
    }
}
