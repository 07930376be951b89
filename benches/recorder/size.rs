//! How large a recording is.

use crate::Setup;
use crate::prepared::{Kind, Prepared};
use crate::recorder_table::Row;

const LIMIT_1K: f64 = 1.45;
const LIMIT_200: f64 = 2.6;

/// A finished recording over the bytes of its messages.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let row = |what: &str, limit, kind, size| -> anyhow::Result<Row> {
        let ratio = over_raw(setup, kind, size)?;
        let show = |n| format!("{n:.2} × raw");
        Ok(Row::at_most(
            format!("size of a recording, {what}"),
            limit,
            ratio,
            show,
        ))
    };
    Ok(vec![
        row("notifications of 1 KB", LIMIT_1K, Kind::Notifications, 1024)?,
        row("calls and answers of 1 KB", LIMIT_1K, Kind::Calls, 1024)?,
        row(
            "notifications of 200 bytes",
            LIMIT_200,
            Kind::Notifications,
            200,
        )?,
        row(
            "calls and answers of 200 bytes",
            LIMIT_200,
            Kind::Calls,
            200,
        )?,
    ])
}

fn over_raw(setup: &Setup, kind: Kind, size: usize) -> anyhow::Result<f64> {
    let frames = setup.amount(100_000, 20_000);
    let indexed = Prepared::write(&setup.dir, kind, size, frames)?.index()?;
    #[expect(clippy::cast_precision_loss, reason = "some hundred megabytes")]
    Ok(indexed.size as f64 / indexed.raw_bytes as f64)
}
