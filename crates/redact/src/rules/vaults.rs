//! Where secrets are kept, and those who set things up with them.

use crate::rule::{RULE, Rule, is_of_name};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "vault-token",
        about: "tokens of Vault",
        anchors: &["hvs.", "hvb.", "hvr."],
        shape: r"hv[sbr]\.[A-Za-z0-9_-]{24,}",
        found: &["VAULT: ⟦hvs.CAESIJ3k7Qm2Vx9Lp4Rt6Wn8Zc1Hd5Jf0⟧"],
        passed: &["hvs.md"],
        ..RULE
    },
    Rule {
        id: "terraform-token",
        about: "tokens of Terraform Cloud",
        anchors: &[".atlasv1."],
        lead: |byte| byte.is_ascii_alphanumeric(),
        shape: r"[A-Za-z0-9]{10,16}\.atlasv1\.[A-Za-z0-9_-]{40,}",
        found: &[
            "⟦k3Jd8fLq2Wz7Xn.atlasv1.Rb1Tc9Vm4Ph6Sk3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6Sk3Jd8fLq2Wz7Xn5Rb1T⟧",
        ],
        passed: &["docs.atlasv1.html"],
        ..RULE
    },
    Rule {
        id: "doppler-token",
        about: "tokens of Doppler",
        anchors: &[
            "dp.pt.",
            "dp.st.",
            "dp.ct.",
            "dp.sa.",
            "dp.scim.",
            "dp.audit.",
        ],
        shape: r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}",
        found: &["⟦dp.pt.k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6Sk3Jd8fLq2Wz7Xn5R⟧"],
        passed: &["dp.pt.md"],
        ..RULE
    },
    Rule {
        id: "age-key",
        about: "private keys of age",
        anchors: &["AGE-SECRET-KEY-1"],
        shape: r"AGE-SECRET-KEY-1[0-9A-Z]{50,}",
        found: &["⟦AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHC⟧"],
        passed: &["AGE-SECRET-KEY-1"],
        ..RULE
    },
    Rule {
        id: "onepassword-key",
        about: "tokens and secret keys of 1Password",
        anchors: &["ops_eyJ", "A3-"],
        edge: is_of_name,
        shape: r"(?:ops_eyJ[A-Za-z0-9+/_-]{100,}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b)",
        found: &[
            "⟦A3-K3JD8F-LQ2WZ7-XN5RB-1TC9V-M4PH6-SWE0U⟧",
            "⟦ops_eyJzaWduSW5BZGRyZXNzIjoiazNKZDhmTHEyV3o3WG41UmIxVGM5Vm00UGg2U3dFMHVZaUE3azNKZDhmTHEyV3o3WG41UmIxVGM5Vm00UGg2In0⟧",
        ],
        passed: &["A3-", "A3-SHEET-2026", "ops_eyJ"],
        ..RULE
    },
    Rule {
        id: "pulumi-token",
        about: "tokens of Pulumi",
        anchors: &["pul-"],
        edge: is_of_name,
        shape: r"pul-[a-f0-9]{40}\b",
        found: &["⟦pul-3f1c0a9be2d47586c1f0e9d8b7a6958473625140⟧"],
        passed: &["pul-", "com-pul-3f1c0a9be2d47586c1f0e9d8b7a6958473625140"],
        ..RULE
    },
];
