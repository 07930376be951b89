//! What is sent to prove who asks.

use crate::base;
use crate::dense;
use crate::more::is_value;
use crate::plausible::looks_random;
use crate::rule::{RULE, Rule};

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
    Rule {
        id: "url-code",
        about: "codes in the query of a URL that are given back for a token",
        anchors: &["?code=", "&code="],
        edge: |_| false,
        shape: r"[?&](?i:code)=([A-Za-z0-9._~/%+-]{16,})",
        holds: |text| is_value(text.as_bytes()) || !dense::is_read(text.as_bytes()),
        found: &[
            "/callback?code=⟦SplxlOBeZQQYbYS6WxSbIA⟧&state=x",
            "grant_type=authorization_code&code=⟦4/0AX4XfWhk3Jd8fLq2Wz7⟧&x=1",
        ],
        passed: &[
            "?code=NO&lang=nb",
            "?code=ERR_MODULE_NOT_FOUND",
            "?code=0a1b2c3d-1111-2222-3333-444455556666",
            "country_code=k3Jd8fLq2Wz7Xn5Rb1Tc9",
        ],
        ..RULE
    },
    Rule {
        id: "url-key",
        about: "keys in the query of a URL that nobody reads",
        anchors: &["?key=", "&key="],
        edge: |_| false,
        shape: r"[?&](?i:key)=([A-Za-z0-9_-]{16,128})(?:[^A-Za-z0-9_./%-]|\z)",
        holds: |text| !dense::is_read(text.as_bytes()),
        found: &["https://maps.x.io/?key=⟦k3Jd8fLq2Wz7Xn5Rb1Tc⟧&q=1"],
        passed: &[
            "?key=user-profile-settings",
            "?key=photos/2026/k3Jd8fLq2Wz7Xn5Rb1Tc.jpg",
            "?key=3f1c0a9be2d47586c1f0e9d8b7a69584",
        ],
        ..RULE
    },
];
