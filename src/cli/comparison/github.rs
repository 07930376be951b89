//! A comparison as annotations: what fails is an error, the rest a notice.

use super::grouped::grouped;
use super::party::opens;
use super::words;
use super::{Compared, Party};
use crate::cli::exit::Failure;
use crate::cli::machine::{Annotation, Annotations, Kind};
use crate::cli::output::Output;
use mcpreel_replay::compare::Class;
use mcpreel_trace::frame::Seq;

/// Writes it.
pub fn write(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let report = compared.report;
    let mut annotations = Annotations::new("difference");
    if report.trouble().is_some() {
        let verdict = words::verdict(compared);
        add(
            &mut annotations,
            compared,
            Kind::Error,
            ("comparison", &verdict, 1),
        );
    }
    offers(compared, &mut annotations);
    groups(compared, &mut annotations);
    annotations.left_out(Kind::Notice, report.more_accounts + report.more_offers);
    annotations.write(out)
}

fn offers(compared: &Compared<'_>, annotations: &mut Annotations) {
    for offer in &compared.report.offers {
        let difference = &offer.difference;
        let said = words::in_words(difference);
        let said = spotted(&said, [offer.left, offer.right], compared);
        let subject = words::offered(offer);
        let class = Some(difference.class);
        one(annotations, compared, class, (&subject, &said, 1));
    }
}

fn groups(compared: &Compared<'_>, annotations: &mut Annotations) {
    for group in grouped(compared.report) {
        let subject = words::call((group.method, group.name));
        for entry in &group.entries {
            let said = spotted(&entry.what.in_words(), entry.seqs, compared);
            let told = (subject.as_str(), said.as_str(), entry.times);
            one(annotations, compared, entry.class, told);
        }
        annotations.left_out(Kind::Notice, group.more);
    }
}

fn spotted(said: &str, seqs: [Option<Seq>; 2], compared: &Compared<'_>) -> String {
    match opens(compared.parties, seqs).join(", ") {
        none if none.is_empty() => said.to_owned(),
        spots => format!("{said} ({spots})"),
    }
}

/// What is said about whom, and of how many it is.
type Told<'t> = (&'t str, &'t str, u64);

fn one(
    annotations: &mut Annotations,
    compared: &Compared<'_>,
    class: Option<Class>,
    (subject, said, times): Told<'_>,
) {
    let fails = class.is_some_and(|class| compared.report.fail_on.fails(class));
    let kind = match class {
        _ if fails => Kind::Error,
        Some(Class::Noise) => return,
        _ => Kind::Notice,
    };
    let title = format!("{}: {subject}", class.map_or("skipped", Class::as_str));
    add(annotations, compared, kind, (&title, said, times));
}

fn add(
    annotations: &mut Annotations,
    compared: &Compared<'_>,
    kind: Kind,
    (title, message, stands_for): Told<'_>,
) {
    annotations.add(Annotation {
        kind,
        file: &Party::file(compared.parties),
        title,
        message,
        stands_for,
    });
}
