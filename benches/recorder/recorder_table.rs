//! The table that is printed.

use std::io::{self, Write};

/// One measured budget.
pub struct Row {
    /// What it is called.
    pub what: String,
    budget: String,
    measured: String,
    /// `None` where there is no budget.
    kept: Option<bool>,
}

impl Row {
    /// A figure that must not be above `limit`; `show` writes figures, with their unit.
    pub fn at_most(
        what: impl Into<String>,
        limit: f64,
        figure: f64,
        show: impl Fn(f64) -> String,
    ) -> Self {
        Self {
            what: what.into(),
            budget: format!("≤ {}", show(limit)),
            measured: show(figure),
            kept: Some(figure <= limit),
        }
    }

    /// A figure that must not be below `limit`.
    pub fn at_least(
        what: impl Into<String>,
        limit: f64,
        figure: f64,
        show: impl Fn(f64) -> String,
    ) -> Self {
        Self {
            what: what.into(),
            budget: format!("≥ {}", show(limit)),
            measured: show(figure),
            kept: Some(figure >= limit),
        }
    }

    /// A figure that helps to judge the others.
    pub fn remark(what: impl Into<String>, measured: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            budget: String::new(),
            measured: measured.into(),
            kept: None,
        }
    }

    /// Adds something to the figure.
    pub fn and(mut self, note: impl AsRef<str>) -> Self {
        self.measured = format!("{} ({})", self.measured, note.as_ref());
        self
    }
}

/// Writes a ratio to the `cat` relay.
pub fn times_cat(ratio: f64) -> String {
    format!("{ratio:.2} × cat")
}

/// Prints `rows` as Markdown.
pub fn print(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    writeln!(
        out,
        "\n| what | budget | measured | kept |\n|---|---|---|---|"
    )?;
    for row in rows {
        let kept = match row.kept {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "",
        };
        let Row {
            what,
            budget,
            measured,
            ..
        } = row;
        writeln!(out, "| {what} | {budget} | {measured} | {kept} |")?;
    }
    Ok(())
}
