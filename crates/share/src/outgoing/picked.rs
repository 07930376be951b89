//! What of a recording is meant: rows that fit a filter, exchanges whole.

use crate::export::Selection;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::{Question, each};
use mcpreel_trace::item::What;
use mcpreel_trace::query::Context;
use std::collections::BTreeSet;

pub fn rows(
    recording: &Recording,
    question: &Question,
    context: Context,
    selection: &mut Selection,
) -> Result<(), ReadError> {
    // The rounds of a chain are picked together: each of them again would be their square.
    let mut chains = BTreeSet::new();
    each(recording, question, context, &mut |item| {
        match &item.what {
            What::Exchange(exchange) if exchange.chain.is_some_and(|id| !chains.insert(id)) => {}
            What::Exchange(exchange) => {
                for seq in recording.frames_of_exchange(exchange.id)? {
                    selection.pick_frame(seq);
                }
            }
            What::Message { head, .. } | What::Line { head, .. } => {
                selection.pick_frame(head.seq);
            }
            What::Event(_) => {
                if let Some(id) = item.key.event_id() {
                    selection.pick_event(item.key.seq, id);
                }
            }
        }
        Ok::<(), ReadError>(())
    })
}
