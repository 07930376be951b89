//! Strings of several lines, line by line.

use super::align::{self, Numbers};
use super::equal::Exhausted;
use super::line::{Excerpt, Label, Verdict};
use super::walk::{Walk, places};
use super::{Change, Class};
use mcpreel_wire::json::Value;

/// Texts of several lines that are compared by line; longer ones as a whole.
const MAX_TEXT: usize = 1 << 20;

impl Walk<'_> {
    pub(super) fn text_lines(
        &mut self,
        depth: u16,
        left: &str,
        right: &str,
    ) -> Result<(), Exhausted> {
        self.work.on_bytes(left.len() + right.len())?;
        let (left, right): (Vec<_>, Vec<_>) =
            (left.split('\n').collect(), right.split('\n').collect());
        let mut numbers = Numbers::default();
        let a: Vec<_> = left.iter().map(|line| numbers.of(*line)).collect();
        let b: Vec<_> = right.iter().map(|line| numbers.of(*line)).collect();
        let alignment = align::align(&a, &b);
        self.out.limits.coarse += u64::from(alignment.coarse);
        for pair in alignment.pairs {
            let (l, r) = places(pair);
            let label = Label::TextLine { left: l, right: r };
            let (one, other) = (l.map(|at| left[at]), r.map(|at| right[at]));
            self.text_line(depth, label, one, other);
        }
        Ok(())
    }

    fn text_line(&mut self, depth: u16, label: Label, left: Option<&str>, right: Option<&str>) {
        let (class, change) = match (left, right) {
            (Some(left), Some(right)) if left == right => {
                return self.same(depth, label, left.as_bytes());
            }
            (Some(left), Some(right)) if self.beside().same_shape(left, right) => {
                (Class::Noise, Change::Value)
            }
            (Some(_), Some(_)) => (Class::Changed, Change::Value),
            (Some(_), None) => (Class::Changed, Change::Removed),
            (None, _) => (Class::Added, Change::Added),
        };
        let excerpts = match (left, right) {
            (Some(left), Some(right)) => Excerpt::pair(left.as_bytes(), right.as_bytes()).map(Some),
            _ => [left, right].map(|text| text.map(|text| Excerpt::new(text.as_bytes()))),
        };
        let [left, right] = excerpts;
        let verdict = Verdict::Differs {
            class,
            change,
            left,
            right,
        };
        self.push(depth, label, verdict);
    }
}

/// Two strings as texts, if neither is too long.
pub(super) fn texts(left: Value<'_>, right: Value<'_>) -> Option<[String; 2]> {
    if left.raw().len().max(right.raw().len()) > MAX_TEXT {
        return None;
    }
    let (left, right) = (left.as_str()?, right.as_str()?);
    Some([left.into_owned(), right.into_owned()])
}

/// Whether texts are compared by line.
pub(super) fn have_lines([left, right]: &[String; 2]) -> bool {
    let several = left.contains('\n') && right.contains('\n');
    // Texts that differ only in what a text does not show would be the same, line by line.
    several && left != right
}
