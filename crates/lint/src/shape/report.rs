//! What is told about a message: a few findings of each rule, and how many more there would be.

use super::base64;
use super::check::Visitor;
use super::meta;
use super::place::Place;
use super::rules;
use super::types::Type;
use super::uri;
use crate::few::Few;
use crate::finding::Findings;
use crate::quote;
use crate::rule::Rule;
use crate::seen::Part;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::Revision;

/// Findings of one rule in one message. Without a limit a list of ten thousand resources with
/// unusual URIs would be ten thousand findings.
const FEW: usize = 4;

/// Values in one answer to `completion/complete`.
const COMPLETIONS: usize = 100;

/// Collects the findings in one message.
pub(super) struct Report<'r, 'a> {
    part: &'r Part<'a>,
    revision: Revision,
    /// What it is called if the message has not the shape that it should have.
    shape_rule: &'static Rule,
    told: Few,
}

impl<'r, 'a> Report<'r, 'a> {
    pub fn new(part: &'r Part<'a>, revision: Revision, shape_rule: &'static Rule) -> Self {
        Self {
            part,
            revision,
            shape_rule,
            told: Few::new(FEW),
        }
    }

    /// Whether the message has not the shape that it should have.
    pub fn is_misshapen(&self) -> bool {
        self.told.has(|rule| is_about_shape(rule, self.shape_rule))
    }

    /// Hands the findings over; those about the shape only if that is `certain`.
    pub fn tell(mut self, certain: bool, findings: &mut Findings) {
        if !certain {
            let shape_rule = self.shape_rule;
            self.told.retain(|rule| !is_about_shape(rule, shape_rule));
        }
        let more = |more| format!("; {more} more like this in the message");
        self.told.give(more, findings);
    }

    fn find(&mut self, rule: &'static Rule, place: &Place<'_>, detail: impl FnOnce() -> String) {
        let part = self.part;
        self.told
            .note(rule, || part.at(rule, detail()).path(place.path()));
    }

    fn meta(&mut self, place: &Place<'_>, value: Value<'_>) {
        for (name, member) in value.members() {
            let key = name.as_str().unwrap_or_default();
            let here = place.named(name);
            if let Some(fault) = meta::fault(&key) {
                self.find(&rules::META_KEY_INVALID, &here, || {
                    format!("\"{}\": {fault}", quote::text(&key))
                });
            } else if meta::is_unknown_reserved(&key, self.revision) && !self.is_extended() {
                self.find(&rules::META_RESERVED_KEY, &here, || {
                    format!("\"{}\"", quote::text(&key))
                });
            } else if meta::is_trace_context(&key) {
                self.trace_context(&key, &here, member);
            }
        }
    }

    fn trace_context(&mut self, key: &str, place: &Place<'_>, value: Value<'_>) {
        let fault = match value.as_str() {
            Some(text) => meta::trace_fault(key, &text),
            None => Some("not a string"),
        };
        if let Some(fault) = fault {
            self.find(&rules::META_TRACE_CONTEXT, place, || {
                format!("{fault}: {}", quote::bytes(value.raw()))
            });
        }
    }

    /// Whether a side has declared an official extension: those define keys of their own.
    fn is_extended(&self) -> bool {
        let is_official = |path: &str| path.starts_with("extensions.io.modelcontextprotocol/");
        let of_server = self.part.server_capabilities();
        let of_client = self.part.client_capabilities();
        of_client.iter().any(is_official)
            || !of_client.is_whole()
            || of_server.is_some_and(|declared| declared.iter().any(is_official))
    }

    fn uri(&mut self, place: &Place<'_>, value: Value<'_>, fault: fn(&str) -> Option<String>) {
        let Some(text) = value.as_str() else { return };
        if let Some(fault) = fault(&text) {
            self.find(&rules::URI_INVALID, place, || {
                format!("{}: {fault}", quote::bytes(value.raw()))
            });
        }
    }

    fn scheme(
        &mut self,
        rule: &'static Rule,
        place: &Place<'_>,
        value: Value<'_>,
        fits: impl FnOnce(&str) -> bool,
    ) {
        let Some(text) = value.as_str() else { return };
        if !fits(&text) {
            self.find(rule, place, || quote::bytes(value.raw()));
        }
    }

    fn contents(&mut self, place: &Place<'_>, value: Value<'_>) {
        let has = |name: &str| value.get(name).is_some();
        let detail = match (has("text"), has("blob")) {
            (true, true) => "both `text` and `blob`",
            (false, false) if value.is_object() => "neither `text` nor `blob`",
            _ => return,
        };
        self.find(&rules::RESOURCE_CONTENTS_SHAPE, place, || detail.to_owned());
    }
}

impl Visitor for Report<'_, '_> {
    fn typed(&mut self, name: Type, place: &Place<'_>, value: Value<'_>) {
        match name {
            Type::RequestMeta | Type::NotificationMeta | Type::ResultMeta | Type::Meta => {
                self.meta(place, value);
            }
            Type::Base64 => {
                if let Some(fault) = base64::fault(value) {
                    self.find(&rules::BASE64_INVALID, place, || fault);
                }
            }
            Type::Uri => self.uri(place, value, uri::fault),
            Type::UriTemplate => self.uri(place, value, uri::template_fault),
            Type::RootUri => self.scheme(&rules::ROOT_URI_NOT_FILE, place, value, |uri| {
                let start = uri.get(..7);
                start.is_some_and(|start| start.eq_ignore_ascii_case("file://"))
            }),
            Type::IconSource => self.scheme(&rules::ICON_SRC_UNSAFE, place, value, |source| {
                let scheme = uri::scheme(source).unwrap_or_default();
                let safe = ["https", "http", "data"];
                safe.iter().any(|safe| scheme.eq_ignore_ascii_case(safe))
            }),
            Type::ResourceContents => self.contents(place, value),
            Type::CompletionValues => {
                let count = value.elements().count();
                if count > COMPLETIONS {
                    self.find(&rules::COMPLETION_TOO_MANY, place, || {
                        format!("{count} values")
                    });
                }
            }
            _ => {}
        }
    }

    fn wrong(&mut self, place: &Place<'_>, detail: &dyn Fn() -> String) {
        let rule = if place.is_within(Type::RequestedSchema) {
            &rules::ELICIT_SCHEMA_NESTED
        } else {
            self.shape_rule
        };
        self.find(rule, place, detail);
    }
}

fn is_about_shape(rule: &Rule, shape_rule: &Rule) -> bool {
    rule == shape_rule || *rule == rules::ELICIT_SCHEMA_NESTED
}
