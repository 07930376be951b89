//! What is sent to prove who asks.

use crate::redact::base;
use crate::redact::plausible::looks_random;
use crate::redact::rule::{RULE, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "jwt",
        about: "JSON Web Tokens",
        anchors: &["eyJ"],
        shape: r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}",
        found: &[
            "⟦eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U⟧",
            "unsigned ⟦eyJhbGciOiJub25lIn0.eyJzdWIiOiI3In0.⟧ end",
        ],
        passed: &[
            "eyJvZmZzZXQiOjEwMCwibGltaXQiOjUwfQ==",
            "eyJ.a.b",
            "keyJhbGciOiJub25lIn0.eyJzdWIiOiI3In0.",
        ],
        ..RULE
    },
    Rule {
        id: "bearer-token",
        about: "what stands behind Bearer",
        anchors: &["bearer ", "bearer+", "bearer%20", "bearer:"],
        shape: r"(?i:bearer)(?:[ +]+|%20|: ?)([A-Za-z0-9._~+/=-]{8,})",
        holds: looks_random,
        found: &[
            "Authorization: Bearer ⟦k3Jd8fLq2Wz7Xn5⟧",
            "bearer ⟦0123456789abcdef⟧,",
        ],
        passed: &[
            "a bearer token is needed",
            "Bearer authentication",
            "Bearer <token>",
            "bearer of good news",
        ],
        ..RULE
    },
    Rule {
        id: "basic-auth",
        about: "what stands behind Basic",
        anchors: &["basic ", "basic+", "basic%20"],
        shape: r"(?i:basic)(?:[ +]+|%20)([A-Za-z0-9+/_-]{6,}(?:={0,2}|(?:%3[Dd]){0,2}))",
        holds: |text| base::is_pair(text.as_bytes()),
        found: &["Authorization: Basic ⟦YWRhOmh1bnRlcjI=⟧"],
        passed: &["Basic authentication", "basic functionality", "Basic YWRh"],
        ..RULE
    },
];
