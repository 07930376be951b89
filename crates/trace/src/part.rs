//! A recording that holds a part of another one.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a selection was asked for, so that whoever reads what was written knows that it is not all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SelectionNote {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

impl fmt::Display for SelectionNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let query = self.query.as_ref().map(|query| format!("-q {query}"));
        let from = self.from.map(|from| format!("from #{from}"));
        let to = self.to.map(|to| format!("to #{to}"));
        let parts: Vec<_> = [query, from, to].into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}
