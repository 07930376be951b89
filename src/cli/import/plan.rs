//! What is known of the sessions of a log before they are made: their ids come from what is said in
//! them, so that a log that grew makes no second recordings of what it had before.

use crc32fast::Hasher;
use mcpreel_share::import::{About, Said, What};
use std::collections::{HashMap, HashSet};

/// Beginnings of a session that are remembered: up to so many lines, one that was taken in before it
/// was over is known again.
const MOST_BEGINNINGS: usize = 100_000;

/// What is known of a session.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What its recording is called.
    pub id: String,
    /// The first time that a line of it has.
    pub start_ns: Option<u64>,
    /// A time that could not be read.
    pub unread: Option<String>,
    /// How it was started, as far as that is told after its beginning.
    pub started: Option<About>,
    /// The ids that it had while it was shorter.
    pub beginnings: Vec<u32>,
    hasher: Hasher,
}

/// Reads a log for the first time.
#[derive(Debug, Default)]
pub(super) struct Planner {
    open: HashMap<String, usize>,
    plans: Vec<Plan>,
}

impl Planner {
    /// Takes what a line says.
    pub fn said(&mut self, said: &Said<'_>) {
        if let What::Begin(_) = said.what {
            self.open.insert(said.session.to_owned(), self.plans.len());
            self.plans.push(Plan::default());
        }
        let known = self.open.get(said.session).copied();
        if let Some(plan) = known.and_then(|at| self.plans.get_mut(at)) {
            plan.said(said);
        }
    }

    /// The sessions in the order in which they begin.
    pub fn finish(self) -> Vec<Plan> {
        let mut plans = self.plans;
        let mut taken = HashSet::new();
        for plan in &mut plans {
            let mut id = plan.hasher.clone().finalize();
            // Of sessions that are alike the place among them tells which it is.
            let mut place = 0u64;
            while !taken.insert(id) {
                place += 1;
                let mut hasher = plan.hasher.clone();
                hasher.update(&place.to_le_bytes());
                id = hasher.finalize();
            }
            plan.id = format!("{id:08x}");
        }
        plans
    }
}

impl Plan {
    fn said(&mut self, said: &Said<'_>) {
        if let What::Nothing(_) = said.what {
            return;
        }
        self.start_ns = self.start_ns.or(said.wall_ns);
        self.hasher.update(&said.wall_ns.unwrap_or(0).to_le_bytes());
        match &said.what {
            What::Begin(about) => self.about(about),
            What::Started(about) => {
                self.about(about);
                self.started.get_or_insert_with(|| about.clone());
            }
            What::Line { stream, bytes, .. } => {
                self.hasher.update(&stream.0.to_le_bytes());
                self.hasher.update(bytes);
                self.hasher.update(b"\n");
            }
            What::Event(kind) => {
                let json = serde_json::to_vec(kind).unwrap_or_default();
                self.hasher.update(&json);
            }
            What::Unread(text) => self.unread = self.unread.take().or(Some(text.clone())),
            What::Nothing(_) => {}
        }
        if self.beginnings.len() < MOST_BEGINNINGS {
            self.beginnings.push(self.hasher.clone().finalize());
        }
    }

    fn about(&mut self, about: &About) {
        self.hasher.update(about.name.as_bytes());
        for word in &about.argv {
            self.hasher.update(word.as_bytes());
            self.hasher.update(b"\0");
        }
    }
}
