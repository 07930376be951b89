//! What the proxy changes in heads and events, and how changes and credentials go on record.

use super::changes::Line;
use super::credentials::Credentials;
use super::tls::Tls;
use super::upstream::Upstream;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// What has to be known to change anything.
pub struct Rules {
    pub upstream: Upstream,
    pub tls: Option<Tls>,
    /// The authorities under which we can be reached, in lower case: `127.0.0.1:7339`.
    pub ours: Vec<String>,
    /// Leave `Host`, `Origin` and `Referer` as they are, and ask nobody where he comes from.
    pub keep_host: bool,
    /// Headers that the user adds to each request.
    pub added: Vec<(String, String)>,
    /// Takes credentials out of what goes on record; `None`: they are to be kept.
    pub credentials: Option<Credentials>,
    /// The changes that are on record: each of them once, and alike from then on.
    pub recorded_edits: Mutex<Vec<Edit>>,
}

/// Distinct changes that are on record once; further ones are recorded each time.
pub const MAX_RECORDED_EDITS: usize = 64;

impl Rules {
    /// Whether a change is on record.
    pub fn is_recorded(&self, edit: &Edit) -> bool {
        let mut recorded = self
            .recorded_edits
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_like = |it: &Edit| (it.what, &it.old, &it.new) == (edit.what, &edit.old, &edit.new);
        let is_recorded = recorded.iter().any(is_like);
        if !is_recorded && recorded.len() < MAX_RECORDED_EDITS {
            recorded.push(edit.clone());
        }
        is_recorded
    }

    /// Gives line after line of a head as it goes on record.
    pub(super) fn recorder<'h>(&self) -> impl FnMut(&Line<'h>) -> Cow<'h, [u8]> {
        let mut hider = self.credentials.as_ref().map(Credentials::head_hider);
        move |line| match &mut hider {
            Some(hider) => hider.hide(line),
            None => Cow::Borrowed(line.whole),
        }
    }

    /// A URL as it goes on record.
    pub(super) fn recorded_url(&self, url: &str) -> String {
        let credentials = self.credentials.as_ref();
        credentials.map_or_else(|| url.to_owned(), |it| it.hide_in_url(url))
    }

    /// A header as it goes on record.
    pub(super) fn recorded_header(&self, name: &str, value: &str) -> String {
        let credentials = self.credentials.as_ref();
        let value = credentials
            .map(|it| it.hide_in_header(name, value))
            .unwrap_or(value.to_owned());
        format!("{name}: {value}")
    }
}

/// A change, at its place among the bytes that go on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub at: usize,
    pub what: &'static str,
    pub old: String,
    pub new: String,
}
