//! What may be seen of a recording in the list while the screen is redacted.
//!
//! Its frames are not read for that: what it says about itself goes through the same redaction as
//! in a file, and what a person wrote about it, which may need the frames to be known as secret,
//! is not shown.

use mcpreel_redact::{Learner, Place, Policy, Redactor, Report};
use mcpreel_store::library::{Details, Entry};
use mcpreel_store::reader::Summary;
use std::sync::Arc;

/// What stands in place of a note.
const NOTED: &str = "(a note)";

/// The same recording without what is secret in what it says about itself.
pub(super) fn of(entry: &Arc<Entry>, policy: &Arc<Policy>) -> Arc<Entry> {
    let Some(context) = entry.context() else {
        // Of what cannot be read nothing is known but its file and why.
        return Arc::clone(entry);
    };
    let mut learner = Learner::new(Arc::clone(policy));
    learner.context(context);
    let mut redactor = learner.finish();
    let report = &mut Report::default();
    let details = match &entry.details {
        Details::Recorded(summary) => {
            let summary = redacted(&mut redactor, summary, report);
            Details::Recorded(Box::new(summary))
        }
        _ => Details::Started(Box::new(redactor.context(context, report))),
    };
    Arc::new(Entry {
        path: entry.path.clone(),
        id: entry.id.clone(),
        name: text(&mut redactor, &entry.name, report),
        details,
        wall_ns: entry.wall_ns,
        size: entry.size,
        standing: entry.standing,
    })
}

fn redacted(redactor: &mut Redactor, summary: &Summary, report: &mut Report) -> Summary {
    let session = redactor.value(Place::Recording, &summary.session, report);
    Summary {
        name: text(redactor, &summary.name, report),
        context: redactor.context(&summary.context, report),
        session: session.unwrap_or_default(),
        note: summary.note.as_ref().map(|_| NOTED.to_owned()),
        ..summary.clone()
    }
}

fn text(redactor: &mut Redactor, text: &str, report: &mut Report) -> String {
    let text = redactor.text(Place::Recording, text, report);
    text.into_owned()
}
