//! The settings that all connections share: what is changed in heads and events, and how changes and
//! credentials go on record.

use super::changes::Line;
use super::credentials::Credentials;
use super::tls::Tls;
use super::upstream::Upstream;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// The settings of the proxy that all connections share.
pub struct Settings {
    pub upstream: Upstream,
    pub tls: Option<Tls>,
    /// The authorities under which we can be reached: `127.0.0.1:7339`.
    pub ours: Vec<String>,
    /// Leave `Host`, `Origin` and `Referer` as they are, and accept requests from web pages.
    pub keep_host: bool,
    /// Headers that the user adds to each request.
    pub added: Vec<(String, String)>,
    /// Takes credentials out of what goes on record; `None`: they are to be kept.
    pub credentials: Option<Credentials>,
    /// The first distinct edits. Each is recorded once; readers match later requests to it by their heads.
    pub recorded_edits: Mutex<Vec<Edit>>,
}

/// Distinct changes that are on record once; further ones are recorded each time.
pub const MAX_RECORDED_EDITS: usize = 64;

impl Settings {
    /// Whether a client reaches us under this authority.
    pub(super) fn is_ours(&self, authority: &str) -> bool {
        self.ours
            .iter()
            .any(|it| it.eq_ignore_ascii_case(authority))
    }

    /// Remembers an edit. Returns whether the recording has it already.
    pub fn remember_edit(&self, edit: &Edit) -> bool {
        let mut recorded = self
            .recorded_edits
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_like = |it: &Edit| (it.what, &it.old, &it.new) == (edit.what, &edit.old, &edit.new);
        let has_it = recorded.iter().any(is_like);
        if !has_it && recorded.len() < MAX_RECORDED_EDITS {
            recorded.push(edit.clone());
        }
        has_it
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
