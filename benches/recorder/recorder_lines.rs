//! The lines of a bench: which of them are wanted, and their table.

use super::machine;
use super::recorder_table as table;
use anyhow::{Context, bail};
use std::io::Write;

/// Measures one line of the table.
pub type Line<S> = fn(&S) -> anyhow::Result<Vec<table::Row>>;

/// What was asked for.
pub struct Wanted {
    names: Vec<String>,
    /// Fewer and shorter rounds: figures that show a blunder, and no more.
    pub quick: bool,
    /// A part of what the rows are called that are wanted, where a line has many.
    pub rows: String,
}

impl Wanted {
    /// `[--quick] [--rows=TEXT] [LINE]...`
    pub fn read(arguments: Vec<String>) -> anyhow::Result<Self> {
        let (options, names): (Vec<_>, Vec<_>) = arguments
            .into_iter()
            .partition(|word| word.starts_with("--"));
        let (mut quick, mut rows) = (false, String::new());
        for option in options {
            match (option.as_str(), option.strip_prefix("--rows=")) {
                (_, Some(text)) => text.clone_into(&mut rows),
                ("--quick", _) => quick = true,
                // Cargo adds it.
                ("--bench", _) => {}
                _ => bail!("unknown option {option}; there are --quick and --rows=TEXT"),
            }
        }
        Ok(Self { names, quick, rows })
    }

    /// Measures those of `lines` that were named, or all, and prints them.
    pub fn measure<S>(&self, lines: &[(&'static str, Line<S>)], setup: &S) -> anyhow::Result<()> {
        let lines = self.pick(lines)?;
        let load_before = machine::load();
        let mut rows = Vec::new();
        for (name, measure) in lines {
            writeln!(std::io::stderr(), "measuring {name}")?;
            rows.extend(measure(setup).with_context(|| format!("could not measure {name}"))?);
        }
        rows.retain(|row| row.what.contains(&self.rows));
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", machine::describe(&load_before))?;
        table::print(&mut out, &rows)?;
        Ok(())
    }

    /// The lines with these names; all of them where none is named.
    fn pick<S>(
        &self,
        lines: &[(&'static str, Line<S>)],
    ) -> anyhow::Result<Vec<(&'static str, Line<S>)>> {
        if self.names.is_empty() {
            return Ok(lines.to_vec());
        }
        let find = |name: &String| {
            let known = || lines.iter().map(|(name, _)| *name).collect::<Vec<_>>();
            let line = lines.iter().find(|(line, _)| line == name).copied();
            line.with_context(|| {
                format!("no line is called {name}; there are {}", known().join(", "))
            })
        };
        self.names.iter().map(find).collect()
    }
}
