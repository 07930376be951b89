//! What a server offers, one line for each tool, prompt and resource of which something differs.

use super::words;
use mcpreel_replay::compare::Class;
use mcpreel_replay::report::{Counts, Offer};
use mcpreel_wire::text::cut;
use std::collections::HashMap;

/// Columns of what is said of each.
const NOTE: usize = 90;

/// A tool, a prompt or a resource.
pub struct Member {
    /// `tool search`, escaped.
    pub subject: String,
    /// The worst that was found.
    pub class: Class,
    /// How much there is of each class where there are several, and the worst of it.
    pub note: String,
}

/// What the offers are about, the worst first. They come by their classes.
pub fn members(offers: &[&Offer]) -> Vec<Member> {
    let mut at = HashMap::new();
    let mut all: Vec<(Counts, &Offer)> = Vec::new();
    for offer in offers {
        let nth = *at.entry(words::offered(offer)).or_insert(all.len());
        if nth == all.len() {
            all.push((Counts::default(), offer));
        }
        all[nth].0.add(offer.difference.class, 1);
    }
    all.into_iter().map(member).collect()
}

fn member((counts, worst): (Counts, &Offer)) -> Member {
    let note = worst.difference.note.as_deref().unwrap_or_default();
    let classes = Class::ALL.iter().filter(|class| **class != Class::Noise);
    let note = match classes.map(|class| counts.of(*class)).sum() {
        0 | 1 => note.to_owned(),
        2_u64.. => format!("{}, such as {note}", words::counted(counts)),
    };
    Member {
        subject: words::offered(worst),
        class: worst.difference.class,
        note: cut(&note, NOTE),
    }
}
