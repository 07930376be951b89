//! How much work checking a value by a schema can be, before it is done.
//!
//! For each part of the graph, and each level of a value below the place where the part is
//! applied: how often any one value of that level is visited at most, and with how much work. A
//! level's figures follow from those of the level above it:
//!
//! ```text
//!  work(part, 0) = its own          + Σ work(here, 0)
//!  work(part, n) = Σ work(here, n) + Σ work(all inside, n-1) + max work(one inside, n-1)
//! ```
//!
//! Exponential schemas show as large figures, not as time.

mod profile;

pub use profile::Profile;

use super::pattern::STEPS;
use super::plan::{Part, Plan};
use super::skipped::Skipped;
use profile::VALUE_LEVELS;

/// Work that a check may be, in visits of a value by a part: some 10 ms of the slowest kind.
const WORK: u64 = 1_000_000;

/// States of an expression that are visited in the time of one visit of a value.
const STATES_PER_STEP: u64 = 2;

/// Alternatives that may be tried where the validator has to say which of them failed, and why:
/// it keeps an error for each, which takes a microsecond.
const ALTERNATIVES: u64 = 10_000;

/// Parts that may be applied to one value in a chain, times the levels of the value: the
/// validator is recursive, and the stack of the thread is 2 MiB.
const CALLS: usize = 400;

/// Bytes of errors that the validator may hold at once. It makes them all before any is told, with
/// the path of each and, below alternatives, with a copy of the value: a schema of a few kilobytes
/// could take gigabytes for one long text.
const ERROR_BYTES: u64 = 1 << 20;

/// Bytes of an error beside its path and what it copies.
const ERROR_SIZE: u64 = 256;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Work {
    steps: u64,
    per_byte: u64,
    backtracking: u64,
    alternatives: u64,
    errors: Errors,
    /// Those that are found below alternatives.
    kept: Errors,
}

/// Errors that may be found at one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Errors {
    count: u64,
    /// What is copied into them from the schema.
    bytes: u64,
    /// How often the value is copied into them.
    copies: u64,
}

impl Errors {
    fn join(self, other: Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            count: with(self.count, other.count),
            bytes: with(self.bytes, other.bytes),
            copies: with(self.copies, other.copies),
        }
    }

    /// The same errors, each with a copy of its value.
    fn copied(self) -> Self {
        Self {
            copies: self.copies.saturating_add(self.count),
            ..self
        }
    }

    /// Bytes of all of them, where there are so many values with such a path, and so much in all
    /// of them together.
    fn total(self, values: u64, path: u64, content: u64) -> u64 {
        let each = self.count.saturating_mul(ERROR_SIZE + path);
        let each = each.saturating_add(self.bytes);
        let copies = self.copies.saturating_mul(content);
        each.saturating_mul(values).saturating_add(copies)
    }
}

impl Work {
    fn own(part: &Part) -> Self {
        Self {
            steps: part.steps.max(1),
            per_byte: part.per_byte,
            backtracking: part.backtracking,
            alternatives: part.alternatives.len() as u64,
            errors: Errors {
                count: part.errors.max(1),
                bytes: part.error_bytes,
                copies: part.copies,
            },
            kept: Errors::default(),
        }
    }

    fn join(self, other: Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            steps: with(self.steps, other.steps),
            per_byte: with(self.per_byte, other.per_byte),
            backtracking: with(self.backtracking, other.backtracking),
            alternatives: with(self.alternatives, other.alternatives),
            errors: self.errors.join(other.errors, with),
            kept: self.kept.join(other.kept, with),
        }
    }

    fn plus(self, other: Self) -> Self {
        self.join(other, u64::saturating_add)
    }

    fn or(self, other: Self) -> Self {
        self.join(other, u64::max)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Whether the value fits, and what is wrong with it.
    Everything,
    /// Whether it fits, and the first thing that is wrong with it.
    First,
    Verdict,
}

/// What a check by one schema costs, by the levels of the value.
#[derive(Debug)]
pub struct Costs {
    levels: Vec<Work>,
    /// The longest chain of parts that are applied to one value.
    chain: usize,
}

impl Costs {
    pub fn of(plan: &Plan) -> Result<Self, Skipped> {
        let (order, chain) = inside_out(&plan.parts)?;
        if chain > CALLS {
            return Err(Skipped::DeepSchema);
        }
        let mut above = vec![Work::default(); plan.parts.len()];
        let mut levels = Vec::new();
        for level in 0..VALUE_LEVELS {
            let mut work = vec![Work::default(); plan.parts.len()];
            for &index in &order {
                let part = &plan.parts[index];
                let inside = if level == 0 {
                    Work::own(part)
                } else {
                    inside(part, &above)
                };
                let here = part.here.iter().map(|here| work[*here]);
                let mut all = here.fold(inside, Work::plus);
                for alternative in &part.alternatives {
                    let found = work[*alternative].errors.copied();
                    all.kept = all.kept.join(found, u64::saturating_add);
                }
                // What is kept is among all that is found, as a copy where it is one.
                all.errors = all.errors.join(all.kept, u64::max);
                work[index] = all;
            }
            levels.push(work[0]);
            if work == above || work.iter().all(|work| *work == Work::default()) {
                break;
            }
            above = work;
        }
        Ok(Self { levels, chain })
    }

    /// How far a check of `profile` may go.
    pub fn allow(&self, profile: &Profile) -> Result<Allowed, Skipped> {
        if profile.levels.len() * self.chain > CALLS {
            return Err(Skipped::DeepValue);
        }
        let steps = STEPS as u64;
        let (mut total, mut alternatives) = (0_u64, 0_u64);
        let (mut errors, mut kept, mut path) = (0_u64, 0_u64, 0);
        for (level, found) in profile.levels.iter().enumerate() {
            // The last figures stand for all further levels: there they no longer change.
            let Some(work) = self.levels.get(level).or(self.levels.last()) else {
                continue;
            };
            total = total
                .saturating_add(work.steps.saturating_mul(found.values))
                .saturating_add(work.per_byte.saturating_mul(found.bytes) / STATES_PER_STEP)
                .saturating_add(work.backtracking.saturating_mul(found.texts * steps));
            alternatives =
                alternatives.saturating_add(work.alternatives.saturating_mul(found.values));
            path += found.longest_name + 1;
            let content = profile.content(level);
            errors = errors.saturating_add(work.errors.total(found.values, path, content));
            kept = kept.saturating_add(work.kept.total(found.values, path, content));
        }
        if total > WORK {
            return Err(Skipped::Costly);
        }
        Ok(if alternatives > ALTERNATIVES || kept > ERROR_BYTES {
            Allowed::Verdict
        } else if errors > ERROR_BYTES {
            Allowed::First
        } else {
            Allowed::Everything
        })
    }
}

fn inside(part: &Part, above: &[Work]) -> Work {
    let all = part.all_inside.iter().map(|index| above[*index]);
    let one = part.one_inside.iter().map(|index| above[*index]);
    let one = one.fold(Work::default(), Work::or);
    all.fold(one, Work::plus)
}

/// How far a part is on its way into the order.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    /// It is in it; the longest chain of parts that begins with it.
    Done(usize),
}

/// The parts in an order in which each comes after all that it applies to the same value, and the
/// longest chain of them. Without recursion: the graph may be as deep as it has parts.
fn inside_out(parts: &[Part]) -> Result<(Vec<usize>, usize), Skipped> {
    let mut marks = vec![Mark::New; parts.len()];
    let mut order = Vec::with_capacity(parts.len());
    let mut longest = 0;
    for start in 0..parts.len() {
        let mut open = vec![start];
        while let Some(&index) = open.last() {
            let here = &parts[index].here;
            match marks[index] {
                Mark::New => {
                    marks[index] = Mark::Open;
                    if here.iter().any(|here| marks[*here] == Mark::Open) {
                        return Err(Skipped::Endless);
                    }
                    let new = here.iter().filter(|here| marks[**here] == Mark::New);
                    open.extend(new);
                }
                Mark::Open => {
                    let chain = 1 + longest_of(here, &marks);
                    longest = longest.max(chain);
                    marks[index] = Mark::Done(chain);
                    order.push(index);
                    open.pop();
                }
                Mark::Done(_) => {
                    open.pop();
                }
            }
        }
    }
    Ok((order, longest))
}

/// The longest of the chains that begin with one of these parts.
fn longest_of(parts: &[usize], marks: &[Mark]) -> usize {
    let chains = parts.iter().map(|part| match marks[*part] {
        Mark::Done(chain) => chain,
        Mark::New | Mark::Open => 0,
    });
    chains.max().unwrap_or(0)
}
