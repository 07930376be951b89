//! A report being made, within its bounds.

use super::account::{Account, Difference, Offer};
use super::{Call, Counts, MAX_DIFFERENCES, Report, Tally, Threshold, Trouble};
use crate::compare::Class;
use std::collections::HashMap;

/// Exchanges that are kept of those whose worst difference has a class: each may take ten
/// kilobytes. What hardly matters never leaves out what does.
const MAX_ACCOUNTS: [(Class, usize); Class::ALL.len()] = [
    (Class::Breaking, 2000),
    (Class::Changed, 2000),
    (Class::Added, 2000),
    (Class::Order, 500),
    (Class::Latency, 500),
    (Class::Noise, 500),
];

/// Exchanges that are kept of those that were not compared and say nothing worse.
const MAX_SILENT: usize = 2000;

/// Differences in what a server offers that are kept.
const MAX_OFFERS: usize = 2000;

/// Methods and tools that are told apart.
const MAX_CALLS: usize = 2000;

const MAX_TROUBLES: usize = 100;

/// What the calls beyond [`MAX_CALLS`] are counted under.
const OTHER_CALLS: &str = "others";

#[derive(Debug, Default)]
pub struct Ledger {
    report: Report,
    /// How many accounts are kept of each class, the last of those without one.
    kept: [usize; Class::ALL.len() + 1],
    /// Where in the report an offer stands.
    offers: HashMap<OfferKey, usize>,
}

/// By what two offers are the same: what it is about, where and what it is.
type OfferKey = (crate::judge::List, Box<str>, Box<str>, Option<Box<str>>);

impl Ledger {
    pub fn new(fail_on: Threshold) -> Self {
        let mut ledger = Self::default();
        ledger.report.fail_on = fail_on;
        ledger
    }

    /// What is on it so far, to be read.
    pub fn so_far(&self) -> &Report {
        &self.report
    }

    pub fn report(&mut self) -> &mut Report {
        &mut self.report
    }

    pub fn finish(self) -> Report {
        self.report
    }

    /// Two exchanges were compared, and this was found.
    pub fn compared(&mut self, call: Call, counts: Counts) {
        self.report.compared += 1;
        self.report.same += u64::from(counts == Counts::default());
        let tally = self.tally(call);
        tally.compared += 1;
        tally.counts.add_all(counts);
        self.report.counts.add_all(counts);
    }

    /// An exchange, or something else, stands by itself.
    pub fn apart(&mut self, call: Call, class: Option<Class>) {
        let mut counts = Counts::default();
        if let Some(class) = class {
            counts.add(class, 1);
        }
        let tally = self.tally(call);
        tally.apart += 1;
        tally.counts.add_all(counts);
        self.report.counts.add_all(counts);
    }

    /// More was found about calls that were compared before.
    pub fn found(&mut self, call: Call, counts: Counts) {
        if counts != Counts::default() {
            self.tally(call).counts.add_all(counts);
            self.report.counts.add_all(counts);
        }
    }

    fn tally(&mut self, call: Call) -> &mut Tally {
        let tallies = &mut self.report.tallies;
        let known = tallies.len() < MAX_CALLS || tallies.contains_key(&call);
        let call = if known {
            call
        } else {
            (OTHER_CALLS.into(), None)
        };
        tallies.entry(call).or_default()
    }

    /// Keeps an account, if there is room for one like it.
    pub fn account(&mut self, mut account: Account) {
        let (at, most) = match account.class {
            Some(class) => (class as usize, MAX_ACCOUNTS[class as usize].1),
            None => (Class::ALL.len(), MAX_SILENT),
        };
        if self.kept[at] == most {
            self.report.more_accounts += 1;
            return;
        }
        self.kept[at] += 1;
        account.differences.sort_by_key(rank);
        let more = account.differences.len().saturating_sub(MAX_DIFFERENCES);
        account.more += more as u64;
        account.differences.truncate(MAX_DIFFERENCES);
        self.report.accounts.push(account);
    }

    /// Keeps what differs in what a server offers; returns whether that is new.
    pub fn offer(&mut self, offer: Offer) -> bool {
        let difference = &offer.difference;
        let key = (
            offer.list,
            offer.name.clone(),
            difference.path.clone(),
            difference.note.clone(),
        );
        if let Some(known) = self.offers.get(&key) {
            self.report.offers[*known].times += 1;
            return false;
        }
        if self.report.offers.len() == MAX_OFFERS {
            self.report.more_offers += 1;
            return true;
        }
        self.offers.insert(key, self.report.offers.len());
        self.report.offers.push(offer);
        true
    }

    pub fn trouble(&mut self, trouble: Trouble, text: Box<str>) {
        let troubles = &mut self.report.troubles;
        if troubles.len() < MAX_TROUBLES {
            troubles.push((trouble, text));
            return;
        }
        self.report.more_troubles += 1;
        // The one that decides is among those that are kept, whenever it comes.
        if troubles.iter().all(|(known, _)| trouble < *known) {
            troubles.pop();
            troubles.push((trouble, text));
        }
    }
}

/// The worst first, and what says how the exchange ended before what it says.
fn rank(difference: &Difference) -> (Class, bool) {
    const ENVELOPE: [&str; 6] = [
        "",
        "result",
        "error",
        "error.code",
        "result.resultType",
        "result.isError",
    ];
    (difference.class, !ENVELOPE.contains(&&*difference.path))
}
