//! Which strings of a message people or models are shown as the protocol's own words: names,
//! titles, descriptions, messages. What a user, a tool or a file says is payload, and may hold
//! anything.

use mcpreel_wire::json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Members that the protocol defines.
    Protocol,
    Shown,
    /// Members whose names somebody chose, such as the properties of a schema.
    Named,
    /// `_meta`, of which only who somebody is counts.
    Meta,
    Payload,
}

impl Scope {
    /// What a member of an object in this scope is.
    pub(super) fn of_member(self, name: Value<'_>, value: Value<'_>) -> Self {
        match self {
            Self::Payload => Self::Payload,
            Self::Named => Self::Protocol,
            Self::Meta => {
                let name = name.str_bytes();
                let is_who = name.ends_with(b"/serverInfo") || name.ends_with(b"/clientInfo");
                if is_who {
                    Self::Protocol
                } else {
                    Self::Payload
                }
            }
            Self::Protocol | Self::Shown => of_protocol(&name.str_bytes(), value),
        }
    }
}

fn of_protocol(name: &[u8], value: Value<'_>) -> Scope {
    match name {
        b"name" | b"title" | b"description" | b"message" | b"instructions" | b"statusMessage"
        | b"reason" | b"version" => Scope::Shown,
        b"properties" | b"patternProperties" | b"$defs" | b"definitions" => Scope::Named,
        b"_meta" => Scope::Meta,
        // The arguments of a call are an object, those that a prompt describes are a list; likewise
        // what a form was filled with, and the blocks of a result.
        b"arguments" | b"content" if value.is_object() => Scope::Payload,
        b"structuredContent" | b"data" | b"input" | b"text" | b"blob" | b"metadata"
        | b"default" | b"examples" | b"const" | b"enum" => Scope::Payload,
        _ => Scope::Protocol,
    }
}
