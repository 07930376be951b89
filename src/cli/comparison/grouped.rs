//! What is said of one call, together: a difference that comes again and again is said once.

use super::words;
use mcpreel_replay::compare::{Change, Class, Half};
use mcpreel_replay::report::{Account, Difference, Report, Tally};
use mcpreel_trace::frame::Seq;
use std::collections::HashMap;

/// What is said of the calls of one method, tool, prompt or resource.
pub struct Group<'r> {
    /// The method; empty for what belongs to none.
    pub method: &'r str,
    /// The tool, prompt or resource.
    pub name: Option<&'r str>,
    /// What became of all of them.
    pub tally: Tally,
    /// What is said, the worst first.
    pub entries: Vec<Entry<'r>>,
    /// Differences that are not kept.
    pub more: u64,
}

/// Something that is said, once or more often.
pub struct Entry<'r> {
    /// How much it matters; `None` where something was not tried.
    pub class: Option<Class>,
    /// What is said.
    pub what: What<'r>,
    /// The first exchange of which it is said, on both sides.
    pub seqs: [Option<Seq>; 2],
    /// Of how many it is said.
    pub times: u64,
}

/// What is said.
#[derive(Clone)]
pub enum What<'r> {
    /// A value differs.
    Differs(&'r Difference),
    /// Something about the exchange as a whole. Escaped.
    Said(String),
}

/// By what two things that are said are the same: the class, where, what it means and how.
type Key<'r> = (Option<Class>, Option<(Half, Change, &'r str)>, String);

/// What is said of every call, those with the worst first.
pub fn grouped(report: &Report) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<(&str, Option<&str>), usize> = HashMap::new();
    let mut known: Vec<HashMap<Key<'_>, usize>> = Vec::new();
    for account in &report.accounts {
        let call = (&*account.method, account.name.as_deref());
        let at = *places.entry(call).or_insert_with(|| {
            groups.push(Group::new(report, account));
            known.push(HashMap::new());
            groups.len() - 1
        });
        groups[at].add(account, &mut known[at]);
    }
    for group in &mut groups {
        group.entries.sort_by_key(Entry::rank);
    }
    groups.sort_by_key(|group| group.entries.first().map(Entry::rank));
    groups
}

impl<'r> Group<'r> {
    fn new(report: &'r Report, account: &'r Account) -> Self {
        let call = (account.method.clone(), account.name.clone());
        Self {
            method: &account.method,
            name: account.name.as_deref(),
            tally: report.tallies.get(&call).copied().unwrap_or_default(),
            entries: Vec::new(),
            more: 0,
        }
    }

    fn add(&mut self, account: &'r Account, known: &mut HashMap<Key<'r>, usize>) {
        let seqs = [account.left, account.right];
        self.more += account.more;
        if let Some(said) = words::said(account) {
            let key = (account.class, None, said.clone());
            self.entry(key, What::Said(said), account.class, seqs, known);
        }
        for difference in &account.differences {
            let what = (difference.half, difference.change, &*difference.path);
            let note = difference.note.as_deref().unwrap_or_default();
            let class = Some(difference.class);
            let key = (class, Some(what), note.to_owned());
            self.entry(key, What::Differs(difference), class, seqs, known);
        }
    }

    fn entry(
        &mut self,
        key: Key<'r>,
        what: What<'r>,
        class: Option<Class>,
        seqs: [Option<Seq>; 2],
        known: &mut HashMap<Key<'r>, usize>,
    ) {
        if let Some(at) = known.get(&key) {
            self.entries[*at].times += 1;
            return;
        }
        known.insert(key, self.entries.len());
        self.entries.push(Entry {
            class,
            what,
            seqs,
            times: 1,
        });
    }
}

impl Entry<'_> {
    /// The worst first; what says nothing worse, because it was not tried, before what is noise.
    fn rank(&self) -> (Class, bool) {
        (self.class.unwrap_or(Class::Latency), self.class.is_none())
    }

    /// Whether it differs as any two runs do.
    pub fn is_noise(&self) -> bool {
        self.class == Some(Class::Noise)
    }
}
