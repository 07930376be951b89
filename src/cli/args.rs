//! What replay, minimise and diff take.

mod compare;

pub use compare::{Diff, Form, ReportFormat, Strictness, rewrite};
