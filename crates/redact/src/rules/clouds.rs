//! Clouds.

use crate::base::is_letter;
use crate::dense::is_unread;
use crate::rule::{RULE, Rule};

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
        id: "aws-session-token",
        about: "tokens of AWS sessions, and API keys of Bedrock",
        anchors: &[
            "IQoJb3JpZ2lu",
            "FwoGZXIvYXdz",
            "FQoGZXIvYXdz",
            "ABSKQmVkcm9ja0FQSUtleS",
            "bedrock-api-key-",
        ],
        edge: is_letter,
        shape: r"(?:(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9+/=%]{60,}|ABSKQmVkcm9ja0FQSUtleS[A-Za-z0-9+/=]{40,}|bedrock-api-key-[A-Za-z0-9+/=_-]{40,})",
        holds: is_unread,
        found: &[
            "'⟦IQoJb3JpZ2luX2VjEk3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4⟧'",
            "⟦ABSKQmVkcm9ja0FQSUtleSk3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq2Wz7==⟧",
        ],
        passed: &[
            "IQoJb3JpZ2lu",
            "bedrock-api-key-rotation-of-all-accounts-in-the-organisation",
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
        id: "azure-key",
        about: "keys of Azure's services, and client secrets of its applications",
        anchors: &["+ASt", "ACDb", "JQQJ99", "AZDO", "AzFu", "AzSe", "Q~"],
        lead: |byte| is_letter(byte) || matches!(byte, b'.' | b'~'),
        edge: |_| false,
        shape: r"(?:[A-Za-z0-9+/]{76}(?:\+ASt|ACDb)[A-Za-z0-9+/]{6}==|[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}|[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{6}==|[A-Za-z0-9]{42}AzSe[A-Za-z0-9]{6}|[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34})",
        holds: is_unread,
        found: &[
            "key ⟦k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq2Wz7Xn5RJQQJ99BCACYeBjFXJ3w3AAABACOGk3Jd⟧",
            "⟦k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd+AStk3Jd8f==⟧",
            "'⟦kJd8Q~LqWzXnRbTcVmPhSwEuYiAkJdLqWzXnRb3⟧'",
        ],
        passed: &["+ASt", "HEAD~8Q~2", "JQQJ99", "AZDOcs"],
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
        anchors: &["AIza", "AQ.Ab"],
        edge: is_letter,
        shape: r"(?:AIza[0-9A-Za-z_-]{35}|AQ\.Ab[0-9A-Za-z_-]{40,})",
        found: &[
            "key=⟦AIzaSyB3k7Qm2Vx9Lp4Rt6Wn8Zc1Hd5Jf0GyTuE⟧",
            "⟦AQ.Ab8RN6Jk3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fL⟧",
        ],
        passed: &[
            "AIzaSyShort",
            "FAQ.About",
            "xAIzaSyB3k7Qm2Vx9Lp4Rt6Wn8Zc1Hd5Jf0GyTuE",
        ],
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
        id: "databricks-token",
        about: "tokens of Databricks",
        anchors: &["dapi"],
        shape: r"dapi[a-f0-9]{32}(?:-\d)?",
        found: &["⟦dapi3f1c0a9be2d47586c1f0e9d8b7a69584⟧"],
        passed: &["dapi", "dapiculture"],
        ..RULE
    },
    Rule {
        id: "cloud-key-id",
        about: "ids of access keys of Alibaba and Tencent",
        anchors: &["LTAI", "AKID"],
        edge: is_letter,
        shape: r"(?:LTAI[A-Za-z0-9]{12,26}|AKID[A-Za-z0-9]{28,36})\b",
        holds: is_unread,
        found: &[
            "⟦LTAI5tk3Jd8fLq2Wz7Xn5Rb1⟧",
            "⟦AKIDk3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0u⟧",
        ],
        passed: &["LTAI", "AKIDentity", "voLTAIre2Complete"],
        ..RULE
    },
];
