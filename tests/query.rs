//! The laws of the filter language, over random filters, texts and rows.

#[expect(dead_code, reason = "seeds come from proptest here")]
#[path = "support/dice.rs"]
mod dice;
#[expect(dead_code, reason = "whole rounds are for the fuzz target")]
#[path = "support/filter_laws.rs"]
mod filter_laws;
#[path = "support/filters.rs"]
mod filters;
#[path = "support/items.rs"]
mod items;

use dice::Dice;
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
        let query = filters::query(&mut Dice(seed));
        prop_assert_eq!(filter_laws::written_and_read(&query), Ok(()));
    }

    #[test]
    fn any_text_is_judged_without_panic(text in any::<String>(), seed: u64) {
        prop_assert_eq!(filter_laws::any_text(&text), Ok(()));
        prop_assert_eq!(filter_laws::any_text(&filters::mutated(&mut Dice(seed))), Ok(()));
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn the_beginning_of_a_filter_is_never_called_wrong(seed: u64) {
        let text = filters::query(&mut Dice(seed)).to_string();
        prop_assert_eq!(filter_laws::beginnings(&text), Ok(()));
    }

    #[test]
    fn of_a_filter_and_its_denial_one_fits(seed: u64) {
        let mut dice = Dice(seed);
        let query = filters::query(&mut dice);
        prop_assert_eq!(filter_laws::denial(&mut dice, &query), Ok(()));
    }
}
