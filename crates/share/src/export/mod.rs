//! Exports: the selected part of a recording, the same for all formats; and the formats for reading
//! and for other people's programs. Their names are `Format` in `outgoing`.
//!
//! * [`markdown`]: a bug report;
//! * [`har`]: HTTP, as browsers and proxies keep it;
//! * [`otlp`]: a trace by the conventions of OpenTelemetry;
//! * [`perfetto`]: a trace, for timeline viewers.
//!
//! None of them redacts: whoever wants less written gives a recording with less in it. Each holds a
//! bounded part of it, however long it is.

mod excerpt;
pub mod har;
pub mod markdown;
pub mod otlp;
pub mod perfetto;
mod selection;

pub use excerpt::{Excerpt, Part};
pub use selection::Selection;

use crate::outgoing::file::WholeError;
use mcpreel_redact::PolicyError;
use mcpreel_store::annotate::AnnotateError;
use mcpreel_store::reader::ReadError;
use mcpreel_store::record::import::ImportError;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::Seq;
use serde_json::Value;
use std::io;

/// Why a recording was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The recording could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The export could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// A redacted recording could not be made.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// Marks and notes could not be written.
    #[error(transparent)]
    Annotate(#[from] AnnotateError),
    #[error(
        "a HAR holds HTTP, and the recording has none: --format jsonl has each message, --format html is a page"
    )]
    NoHttp,
    #[error("a temporary folder could not be made")]
    Folder(#[source] io::Error),
    /// The rules for secrets could not be put together.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The file could not be made.
    #[error(transparent)]
    Whole(#[from] WholeError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// The user has stopped the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was stopped")]
pub struct Stopped;

/// Is told each frame that is done; what it returns may stop the work.
pub type Progress<'p> = dyn FnMut(Seq) -> Result<(), Stopped> + 'p;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub frames: u64,
    /// Exchanges, by formats that write these.
    pub exchanges: u64,
    /// Events, without that of the start.
    pub events: u64,
    /// Frames that were not selected; of formats that write exchanges, exchanges.
    pub left_out: u64,
}

pub struct Export<'e, W> {
    pub excerpt: Excerpt<'e>,
    pub out: &'e mut W,
    /// Is told each frame that is done.
    pub progress: &'e mut Progress<'e>,
}

/// When an exchange was over in a recording that is over at `end`: with its answer, with its
/// cancel, or never. One that was given up is over when it begins: how long it took nobody knows.
fn end_of(exchange: &Exchange, end: Moment) -> Moment {
    match exchange.status {
        Status::GivenUp => exchange.t_request,
        _ => (exchange.t_response_last.or(exchange.t_cancelled)).unwrap_or(end),
    }
}

/// `tools/call search_docs`: of tools and prompts the name stands in the name of the span.
fn span_name(method: &str, name: Option<&str>) -> String {
    match (method, name) {
        ("tools/call" | "prompts/get", Some(name)) => format!("{method} {name}"),
        _ => method.to_owned(),
    }
}

/// All rows of a table that is read page by page: `page` reads those after a key, `key` is that of a
/// row.
pub fn all_rows<T, K>(
    first: K,
    mut page: impl FnMut(&K) -> Result<Vec<T>, ReadError>,
    key: impl Fn(&T) -> K,
) -> impl Iterator<Item = Result<T, ReadError>> {
    let mut after = first;
    let mut rows = Vec::new().into_iter();
    std::iter::from_fn(move || {
        if rows.len() == 0 {
            match page(&after) {
                Ok(next) => {
                    after = key(next.last()?);
                    rows = next.into_iter();
                }
                Err(error) => return Some(Err(error)),
            }
        }
        rows.next().map(Ok)
    })
}

/// `object` without its members that are null.
pub fn without_nulls(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

#[cfg(test)]
fn exported(
    excerpt: Excerpt<'_>,
    write: impl FnOnce(Export<'_, Vec<u8>>) -> Result<Written, ExportError>,
) -> Vec<u8> {
    let mut file = Vec::new();
    let progress = &mut |_| Ok(());
    let out = &mut file;
    write(Export {
        excerpt,
        out,
        progress,
    })
    .unwrap();
    file
}
