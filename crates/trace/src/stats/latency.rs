//! A distribution of latencies, in bounded memory.

use hdrhistogram::Histogram;

/// Latencies of which every one is kept; of more a histogram. Up to here quantiles are measured
/// values, not the bounds of a bucket.
const EXACT: usize = 2048;

/// Significant digits of the histograms: quantiles are exact to a tenth of a percent.
const DIGITS: u8 = 3;

/// The upper bounds of the buckets, nanoseconds; what is above the last one has a bucket of its
/// own. Two, two and a half, two times the one before.
const BOUNDS: [u64; 28] = {
    let mut bounds = [0; 28];
    let (mut at, mut decade) = (0, 1_000);
    while at < bounds.len() {
        bounds[at] = decade
            * match at % 3 {
                0 => 1,
                1 => 2,
                _ => 5,
            };
        if at % 3 == 2 {
            decade *= 10;
        }
        at += 1;
    }
    bounds
};

/// A distribution of latencies, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    pub measured: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p95_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
}

/// Counts of latencies from one bound to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buckets([u64; BOUNDS.len() + 1]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The upper bound, nanoseconds; none where it took longer than a thousand seconds.
    pub up_to_ns: Option<u64>,
    pub count: u64,
}

impl Buckets {
    fn add(&mut self, ns: u64) {
        let at = BOUNDS.partition_point(|&bound| bound < ns);
        self.0[at] += 1;
    }

    /// The buckets from the first to the last that hold something.
    pub fn filled(&self) -> Vec<Bucket> {
        let is_filled = |count: &u64| *count > 0;
        let Some(first) = self.0.iter().position(is_filled) else {
            return Vec::new();
        };
        let last = self.0.iter().rposition(is_filled).unwrap_or(first);
        let bucket = |at: usize| Bucket {
            up_to_ns: BOUNDS.get(at).copied(),
            count: self.0[at],
        };
        (first..=last).map(bucket).collect()
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    all: Vec<u64>,
    /// In place of these, where they are too many.
    histogram: Option<Box<Histogram<u64>>>,
    pub buckets: Buckets,
    max_ns: u64,
}

impl Gathered {
    pub fn add(&mut self, ns: u64) {
        self.max_ns = self.max_ns.max(ns);
        self.buckets.add(ns);
        if let Some(histogram) = &mut self.histogram {
            return record(histogram, ns);
        }
        self.all.push(ns);
        if self.all.len() > EXACT
            && let Ok(mut histogram) = Histogram::new(DIGITS)
        {
            self.all.drain(..).for_each(|ns| record(&mut histogram, ns));
            self.histogram = Some(Box::new(histogram));
        }
    }

    /// The distribution, if there is one.
    pub fn latency(&self) -> Option<Latency> {
        let mut sorted = self.all.clone();
        sorted.sort_unstable();
        let quantile = |percent: u32| match &self.histogram {
            Some(histogram) => {
                let ns = histogram.value_at_quantile(f64::from(percent) / 100.0);
                ns.min(self.max_ns)
            }
            None => rank(&sorted, percent),
        };
        let many = self.histogram.as_ref().map(|histogram| histogram.len());
        let measured = many.unwrap_or(sorted.len() as u64);
        (measured > 0).then(|| Latency {
            measured,
            p50_ns: quantile(50),
            p90_ns: quantile(90),
            p95_ns: quantile(95),
            p99_ns: quantile(99),
            max_ns: self.max_ns,
        })
    }
}

fn record(histogram: &mut Histogram<u64>, ns: u64) {
    // It grows by itself up to half the range of u64, some 292 years.
    if histogram.record(ns).is_err() {
        histogram.saturating_record(ns);
    }
}

/// The nearest rank: the least of them that `percent` of a hundred do not exceed. There is one at
/// least.
fn rank(sorted: &[u64], percent: u32) -> u64 {
    let rank = (sorted.len() * percent as usize).div_ceil(100);
    sorted[rank.max(1) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(latencies: impl IntoIterator<Item = u64>) -> Gathered {
        let mut gathered = Gathered::default();
        latencies.into_iter().for_each(|ns| gathered.add(ns));
        gathered
    }

    #[test]
    fn quantiles_of_many_are_within_a_tenth_of_a_percent_and_none_is_lost_on_the_way() {
        let many = EXACT as u64 * 4;
        let latency = of((1..=many).map(|ms| ms * 1_000_000)).latency();
        let latency = latency.expect("many were measured");
        assert_eq!(latency.measured, many);
        let p95 = many * 95 / 100 * 1_000_000;
        assert!(latency.p95_ns.abs_diff(p95) <= p95 / 1000, "{latency:?}");
        assert_eq!(latency.max_ns, many * 1_000_000);
    }

    #[test]
    fn a_bucket_holds_what_took_longer_than_the_one_before() {
        let buckets = of([0, 1_000, 1_001, 4_000, 5_000, u64::MAX]).buckets;
        let filled = buckets.filled();
        let first = |at: usize| (filled[at].up_to_ns, filled[at].count);
        assert_eq!(first(0), (Some(1_000), 2));
        assert_eq!(first(1), (Some(2_000), 1));
        assert_eq!(first(2), (Some(5_000), 2));
        assert_eq!(
            filled.last().map(|last| (last.up_to_ns, last.count)),
            Some((None, 1))
        );
        assert_eq!(BOUNDS.last(), Some(&1_000_000_000_000));
    }
}
