//! The laws of the filter language, over random filters, texts and rows.

use crate::dice::Dice;
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
        let query = crate::filters::query(&mut Dice(seed));
        prop_assert_eq!(crate::filter_laws::written_and_read(&query), Ok(()));
    }

    #[test]
    fn any_text_is_judged_without_panic(text in any::<String>(), seed: u64) {
        prop_assert_eq!(crate::filter_laws::any_text(&text), Ok(()));
        prop_assert_eq!(crate::filter_laws::any_text(&crate::filters::mutated(&mut Dice(seed))), Ok(()));
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn the_beginning_of_a_filter_is_never_called_wrong(seed: u64) {
        let text = crate::filters::query(&mut Dice(seed)).to_string();
        prop_assert_eq!(crate::filter_laws::beginnings(&text), Ok(()));
    }
}
