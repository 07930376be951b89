//! The laws of the filter language, over random filters and texts.

use crate::dice::Dice;
use crate::filters;
use mcpreel_trace::query::ast::Query;
use mcpreel_trace::query::complete;
use proptest::prelude::*;

/// A seed that failed is told; there is nothing to keep in a file.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

proptest! {
    #![proptest_config(config(4_000))]

    #[test]
    fn a_filter_is_read_back_as_it_was_written(seed: u64) {
        prop_assert_eq!(written_and_read(&filters::query(&mut Dice(seed))), Ok(()));
    }

    #[test]
    fn any_text_is_judged_without_panic(text in any::<String>(), seed: u64) {
        prop_assert_eq!(any_text(&text), Ok(()));
        prop_assert_eq!(any_text(&filters::mutated(&mut Dice(seed))), Ok(()));
    }

    #[test]
    fn what_is_offered_replaces_a_part_of_the_text(seed: u64) {
        let dice = &mut Dice(seed);
        let text = filters::mutated(dice);
        let caret = dice.length_below(text.len() + 2);
        prop_assert_eq!(completion(&text, caret), Ok(()));
    }
}

/// A filter is read back as it was written.
fn written_and_read(query: &Query) -> Result<(), String> {
    let text = query.to_string();
    match Query::parse(&text) {
        Ok(again) if again == *query => Ok(()),
        other => Err(format!(
            "{text:?} was written for {query:?} and read as {other:?}"
        )),
    }
}

/// Any text is a filter that reads back the same, or refused with a place in it.
fn any_text(text: &str) -> Result<(), String> {
    match Query::parse(text) {
        Ok(query) => written_and_read(&query).map_err(|error| format!("{text:?}: {error}")),
        Err(error) if text.get(error.at.clone()).is_some() => Ok(()),
        Err(error) => Err(format!("{text:?}: {:?} is no place in it", error.at)),
    }
}

/// What may stand at any place replaces a part of the text that is there.
fn completion(text: &str, caret: usize) -> Result<(), String> {
    let completion = complete(text, caret);
    match text.get(completion.replace.clone()) {
        Some(_) => Ok(()),
        None => Err(format!(
            "{text:?}, {caret}: {:?} is no place in it",
            completion.replace
        )),
    }
}
