//! Middles and ends of samples.

/// The value below which `part` (0 to 1) of the samples lie; 0 where there are none.
pub fn quantile(samples: &[f64], part: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index of a few thousand samples"
    )]
    let at = (part * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(at).copied().unwrap_or_default()
}

/// The middle of the samples.
pub fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}

/// The largest sample.
pub fn largest(samples: &[f64]) -> f64 {
    quantile(samples, 1.0)
}
