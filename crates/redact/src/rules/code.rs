//! Where code and packages live.

use crate::base::is_letter;
use crate::rule::{RULE, Rule, is_of_name};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "github-token",
        about: "tokens of GitHub",
        anchors: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        // Of an installation it may end like a JSON Web Token.
        shape: r"(?:gh[pousr]_[A-Za-z0-9_]{36,}(?:\.[A-Za-z0-9_-]{8,}){0,2}|github_pat_[A-Za-z0-9_]{22,})",
        found: &[
            "with ⟦ghp_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7⟧ it works",
            "(⟦github_pat_11ABCDEFG0k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7⟧)",
            "⟦ghs_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7⟧",
            "⟦ghs_4711_eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI3In0.k3Jd8fLq2Wz7⟧, ok",
        ],
        passed: &[
            "ghp_",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "high_ghp_tide",
            "github_pattern",
        ],
        ..RULE
    },
    Rule {
        id: "gitlab-token",
        about: "tokens of GitLab",
        anchors: &[
            "glpat-",
            "gldt-",
            "glrt-",
            "glptt-",
            "glcbt-",
            "glft-",
            "glsoat-",
            "gloas-",
            "glimt-",
            "glagent-",
            "glrtr-",
            "glffct-",
            "glwt-",
            "GR1348941",
        ],
        edge: is_of_name,
        shape: r"(?:gl(?:pat|dt|rt|ptt|cbt|ft|soat|oas|imt|agent|rtr|ffct|wt)-[A-Za-z0-9_.-]{20,}|GR1348941[A-Za-z0-9_-]{20,})",
        found: &[
            "⟦glpat-k3Jd8fLq2Wz7Xn5Rb1Tc⟧",
            "⟦glrt-k3Jd8fLq2Wz7Xn5Rb1Tc9V⟧",
            "⟦GR1348941k3Jd8fLq2Wz7Xn5Rb1Tc⟧",
        ],
        passed: &[
            "glpat-",
            "glpat-your-token",
            "un-glpat-k3Jd8fLq2Wz7Xn5Rb1Tc",
        ],
        ..RULE
    },
    Rule {
        id: "npm-token",
        about: "tokens of npm",
        anchors: &["npm_"],
        shape: r"npm_[A-Za-z0-9]{36}\b",
        found: &["//registry.npmjs.org/:=⟦npm_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7⟧"],
        passed: &["npm_config_registry", "npm_lifecycle_event"],
        ..RULE
    },
    Rule {
        id: "pypi-token",
        about: "tokens of PyPI",
        anchors: &["pypi-AgE"],
        edge: is_of_name,
        shape: r"pypi-AgE[A-Za-z0-9_-]{50,}",
        found: &[
            "⟦pypi-AgEIcHlwaS5vcmcCJDNmMWMwYTliLWUyZDQtNzU4Ni1jMWYwLWU5ZDhiN2E2OTU4NAACKlszLCJ⟧",
        ],
        passed: &["pypi-AgE", "pypi-mirror"],
        ..RULE
    },
    Rule {
        id: "cargo-token",
        about: "tokens of crates.io",
        anchors: &["cio"],
        edge: is_letter,
        shape: r"cio[a-zA-Z0-9]{32}\b",
        holds: |text| text.bytes().filter(u8::is_ascii_digit).count() >= 2,
        found: &["⟦ciok3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0u⟧"],
        passed: &["cio", "precious", "cioabcdefghijklmnopqrstuvwxyzabcdef"],
        ..RULE
    },
    Rule {
        id: "rubygems-key",
        about: "API keys of RubyGems",
        anchors: &["rubygems_"],
        shape: r"rubygems_[a-f0-9]{48}",
        found: &["⟦rubygems_3f1c0a9be2d47586c1f0e9d8b7a6958473625140fedcba98⟧"],
        passed: &["rubygems_mirror"],
        ..RULE
    },
    Rule {
        id: "docker-token",
        about: "tokens of Docker Hub",
        anchors: &["dckr_pat_", "dckr_oat_"],
        shape: r"dckr_[po]at_[A-Za-z0-9_-]{20,}",
        found: &["⟦dckr_pat_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6⟧"],
        passed: &["dckr_pat_"],
        ..RULE
    },
    Rule {
        id: "atlassian-token",
        about: "tokens of Atlassian",
        anchors: &["ATATT3", "ATCTT3", "ATBB"],
        edge: is_letter,
        shape: r"(?:AT[AC]TT3[A-Za-z0-9_=-]{50,}|ATBB[A-Za-z0-9]{24,})",
        holds: |text| text.bytes().any(|byte| byte.is_ascii_digit()),
        found: &["⟦ATATT3xFfGF0k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq2Wz7Xn5R⟧"],
        passed: &["ATATT3", "ATBB"],
        ..RULE
    },
    Rule {
        id: "linear-key",
        about: "API keys of Linear",
        anchors: &["lin_api_", "lin_oauth_"],
        shape: r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}",
        found: &["⟦lin_api_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd⟧"],
        passed: &["lin_api_v2"],
        ..RULE
    },
    Rule {
        id: "sentry-token",
        about: "tokens of Sentry",
        anchors: &["sntrys_", "sntryu_", "sntryi_", "sntrya_"],
        shape: r"sntry[suia]_[A-Za-z0-9+/=_-]{40,}",
        found: &["⟦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⟧"],
        passed: &["sntrys_"],
        ..RULE
    },
    Rule {
        id: "build-token",
        about: "tokens of CircleCI, Buildkite, SonarQube, NuGet and Artifactory",
        anchors: &["CCIPAT_", "bkua_", "sqp_", "squ_", "sqa_", "oy2", "AKCp"],
        edge: is_letter,
        shape: r"(?:CCIPAT_[A-Za-z0-9]{22}_[a-f0-9]{40}|bkua_[a-f0-9]{40}|sq[pua]_[a-f0-9]{40}|oy2[a-z0-9]{43}|AKCp[A-Za-z0-9]{69})\b",
        holds: |text| text.bytes().filter(u8::is_ascii_digit).count() >= 2,
        found: &[
            "⟦CCIPAT_k3Jd8fLq2Wz7Xn5Rb1Tc9V_3f1c0a9be2d47586c1f0e9d8b7a6958473625140⟧",
            "⟦sqp_3f1c0a9be2d47586c1f0e9d8b7a6958473625140⟧",
            "⟦oy2k3jd8flq2wz7xn5rb1tc9vm4ph6swe0uyia7k3jd8fa⟧",
        ],
        passed: &[
            "sqp_",
            "oy2",
            "squ_bkua_",
            "boy2k3jd8flq2wz7xn5rb1tc9vm4ph6swe0uyia7k3jd8fa",
        ],
        ..RULE
    },
];
