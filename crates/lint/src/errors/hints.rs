//! What an error message says about its cause: only words tell, and they are compared without
//! case.

/// Bytes of a message that are looked at.
const LOOKED_AT: usize = 4096;

/// An error message, ready to be searched.
pub(super) struct Words(String);

impl Words {
    pub(super) fn of(message: &str) -> Self {
        let end = message.floor_char_boundary(LOOKED_AT);
        Self(message[..end].to_ascii_lowercase())
    }

    fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.0.contains(word))
    }

    /// Whether it says that there is no such method.
    pub(super) fn no_such_method(&self) -> bool {
        self.has_any(&["method", "request type", "endpoint"]) && self.has_any(UNKNOWN)
    }

    /// Whether it says that something is not there.
    pub(super) fn nothing_there(&self) -> bool {
        self.has_any(NOT_THERE)
    }

    /// Whether it tells which parameter was not accepted.
    pub(super) fn not_accepted(&self) -> bool {
        let names_one = self.0.starts_with("invalid ") && self.has_any(&["must be", "expected"]);
        names_one || self.has_any(NOT_ACCEPTED)
    }
}

const UNKNOWN: &[&str] = &[
    "not found",
    "unknown",
    "unsupported",
    "not supported",
    "not implemented",
    "unrecognized",
    "no such",
    "does not exist",
    "unhandled",
    "no handler",
];

const NOT_THERE: &[&str] = &[
    "not found",
    "unknown resource",
    "unknown uri",
    "no such",
    "does not exist",
    "doesn't exist",
    "cannot find",
    "could not find",
    "no resource",
    "enoent",
];

/// Words of the validators that servers use.
const NOT_ACCEPTED: &[&str] = &[
    "invalid_type",
    "invalid_value",
    "invalid_enum_value",
    "invalid_string",
    "invalid_union",
    "invalid_literal",
    "unrecognized_keys",
    "too_small",
    "too_big",
    "zoderror",
    "validation error",
    "validation failed",
    "invalid arguments",
    "invalid params",
    "invalid parameter",
    "is a required property",
    "is not of type",
    "must have required property",
    "missing required",
    "missing field `",
    "unknown variant `",
    "invalid type: ",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_real_servers_are_understood() {
        let says = Words::of;
        assert!(says("Method not found: x/y").no_such_method());
        assert!(says("Unknown method").no_such_method());
        assert!(!says("quota exceeded").no_such_method());
        assert!(!says("unknown user").no_such_method());
        assert!(says("MCP error -32602: Resource test://x not found").nothing_there());
        assert!(says("ENOENT: no such file or directory").nothing_there());
        assert!(!says("permission denied").nothing_there());
        assert!(says(r#"[{"received":"loud","code":"invalid_enum_value"}]"#).not_accepted());
        assert!(says("1 validation error for CallToolRequest").not_accepted());
        assert!(says("Invalid resourceType: a. Must be Text or Blob").not_accepted());
        assert!(!says("Invalid state: connection closed").not_accepted());
        assert!(!says("database is locked").not_accepted());
    }
}
