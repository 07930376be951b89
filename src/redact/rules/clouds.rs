//! Clouds and those who run things there.

use crate::redact::base::is_letter;
use crate::redact::rule::{RULE, Rule};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "aws-access-key",
        about: "ids of AWS access keys",
        anchors: &["AKIA", "ASIA", "ABIA", "ACCA"],
        edge: is_letter,
        shape: r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}\b",
        found: &["id ⟦AKIA2E7A5F3B244C7756⟧.", "aws:⟦ASIAQ5ZJ3KLM7NOP2RST⟧"],
        passed: &[
            "AKIAIOSFODNN7EXAMPLE",
            "AKIA",
            "MAKIA2E7A5F3B244C7756",
            "AKIAshortened",
        ],
        ..RULE
    },
    Rule {
        id: "azure-sas",
        about: "signatures of Azure shared access",
        anchors: &["sig="],
        shape: r"sig=([A-Za-z0-9%+/=_-]{20,})",
        found: &["?sv=2024-11-04&sp=r&sig=⟦nXk3bR7vT2pQ9mZ1cL5yH8wJ4dF6gS0aE%2BuIoO%3D⟧&x=1"],
        passed: &["?sig=short", "design=nXk3bR7vT2pQ9mZ1cL5yH8wJ4dF6gS0a"],
        ..RULE
    },
    Rule {
        id: "signed-url",
        about: "signatures of URLs that give access to a file",
        anchors: &[
            "X-Amz-Signature=",
            "X-Goog-Signature=",
            "?Signature=",
            "&Signature=",
            ";Signature=",
            "?hmac=",
            "&hmac=",
        ],
        edge: |_| false,
        shape: r"(?:(?i:X-(?:Amz|Goog)-Signature|[?&]hmac)=([0-9a-fA-F]{40,})|[?&;](?i:signature)=([A-Za-z0-9%+/=_~-]{20,}))",
        found: &[
            "&X-Amz-Signature=⟦3f1c0a9be2d47586c1f0e9d8b7a6958473625140fedcba98765432100a1b2c3d⟧",
            "?Expires=1&Signature=⟦vjbyPxybdZaNmGa%2ByT272YEAiv4%3D⟧&Key-Pair-Id=K1",
            "?shop=x&hmac=⟦3f1c0a9be2d47586c1f0e9d8b7a6958473625140fedcba98765432100a1b2c3d⟧",
        ],
        passed: &["X-Amz-Signature=abc", "?signature=def", "?hmac=sha256"],
        ..RULE
    },
    Rule {
        id: "google-api-key",
        about: "API keys of Google",
        anchors: &["AIza"],
        edge: is_letter,
        shape: r"AIza[0-9A-Za-z_-]{35}",
        found: &["key=⟦AIzaSyB3k7Qm2Vx9Lp4Rt6Wn8Zc1Hd5Jf0GyTuE⟧"],
        passed: &["AIzaSyShort", "xAIzaSyB3k7Qm2Vx9Lp4Rt6Wn8Zc1Hd5Jf0GyTuE"],
        ..RULE
    },
    Rule {
        id: "google-oauth",
        about: "tokens and client secrets of Google",
        anchors: &["ya29.", "GOCSPX-", "1//0"],
        edge: is_letter,
        shape: r"(?:ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}|1//0[A-Za-z0-9_-]{30,})",
        found: &[
            "⟦ya29.a0AfH6SMBx7yQk2Lw9Rt4Vn8Pz⟧",
            "⟦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⟧",
            "⟦1//0gK3mVb7Qx2Lw9Rt4Vn8PzCg1Hd5Jf0GyTuEaB⟧",
        ],
        passed: &["ya29.", "1//01/02"],
        ..RULE
    },
    Rule {
        id: "digitalocean-token",
        about: "tokens of DigitalOcean",
        anchors: &["dop_v1_", "doo_v1_", "dor_v1_"],
        shape: r"do[opr]_v1_[a-f0-9]{64}",
        found: &["⟦dop_v1_3f1c0a9be2d47586c1f0e9d8b7a6958473625140fedcba98765432100a1b2c3d⟧"],
        passed: &["dop_v1_"],
        ..RULE
    },
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
        id: "databricks-token",
        about: "tokens of Databricks",
        anchors: &["dapi"],
        shape: r"dapi[a-f0-9]{32}(?:-\d)?",
        found: &["⟦dapi3f1c0a9be2d47586c1f0e9d8b7a69584⟧"],
        passed: &["dapi", "dapiculture"],
        ..RULE
    },
    Rule {
        id: "heroku-key",
        about: "API keys of Heroku",
        anchors: &["HRKU-"],
        shape: r"HRKU-[A-Za-z0-9_-]{36,}",
        found: &["⟦HRKU-3f1c0a9b-e2d4-7586-c1f0-e9d8b7a69584⟧"],
        passed: &["HRKU-1"],
        ..RULE
    },
    Rule {
        id: "doppler-token",
        about: "tokens of Doppler",
        anchors: &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."],
        shape: r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9._-]{40,}",
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
        id: "flyio-token",
        about: "tokens of Fly.io",
        anchors: &["fo1_", "fm1_", "fm2_"],
        shape: r"(?:fo1_[A-Za-z0-9_-]{40,}|fm[12]_[A-Za-z0-9+/=_-]{80,})",
        found: &["⟦fo1_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6Sk3Jd8fLq2Wz7Xn5⟧"],
        passed: &["fo1_x"],
        ..RULE
    },
    Rule {
        id: "planetscale-token",
        about: "tokens and passwords of PlanetScale",
        anchors: &["pscale_"],
        shape: r"pscale_(?:tkn|pw|oauth|otkn)_[A-Za-z0-9_.=-]{32,}",
        found: &["⟦pscale_pw_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6Sk3Jd8f⟧"],
        passed: &["pscale_config"],
        ..RULE
    },
    Rule {
        id: "supabase-token",
        about: "tokens and secret keys of Supabase",
        anchors: &["sbp_", "sb_secret_"],
        shape: r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})",
        found: &[
            "⟦sbp_3f1c0a9be2d47586c1f0e9d8b7a6958473625140⟧",
            "⟦sb_secret_k3Jd8fLq2Wz7Xn5Rb1Tc9V⟧",
        ],
        passed: &["sbp_", "sb_publishable_k3Jd8fLq2Wz7Xn5Rb1Tc9V"],
        ..RULE
    },
];
