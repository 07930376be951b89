//! Tokens of services that programs call: payment, mail, chat, observability, language models.

use crate::encodings::{decode, is_letter};
use crate::entropy;
use crate::rules::{RULE, Rule, is_of_name};

/// Services of all kinds.
pub(super) const SERVICES: &[Rule] = &[
    Rule {
        id: "slack-token",
        about: "tokens of Slack",
        anchors: &[
            "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxe.", "xoxc-",
            "xoxd-", "xapp-", "xwfp-",
        ],
        shape: r"(?:xox[a-z][-.]|xapp-|xwfp-)[A-Za-z0-9%.-]{10,}",
        holds: has_digit,
        found: &[
            "⟦xoxb-123456789012-k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4⟧",
            "⟦xapp-1-A0123456789-1234567890123-3f1c0a9be2d47586⟧",
        ],
        passed: &["xoxb-", "xoxo-hugs-and-kisses"],
        ..RULE
    },
    Rule {
        id: "slack-webhook",
        about: "webhooks of Slack",
        anchors: &["hooks.slack.com/"],
        shape: r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]{20,})",
        found: &["https://hooks.slack.com/services/⟦T01ABCDEF/B01ABCDEF/k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4⟧"],
        passed: &["https://hooks.slack.com/services/"],
        ..RULE
    },
    Rule {
        id: "discord-webhook",
        about: "webhooks of Discord",
        anchors: &["/webhooks/"],
        edge: |_| false,
        shape: r"/webhooks/\d{15,20}/([A-Za-z0-9_-]{40,})",
        found: &[
            "https://discord.com/api/webhooks/123456789012345678/⟦k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0u⟧",
        ],
        passed: &["/api/webhooks/1/delivery"],
        ..RULE
    },
    Rule {
        id: "teams-webhook",
        about: "webhooks of Teams",
        anchors: &["/IncomingWebhook/"],
        edge: |_| false,
        shape: r"/(?i:incomingwebhook)/([A-Za-z0-9]{32}(?:/[A-Za-z0-9-]{36})?)",
        found: &["/webhookb2/a@b/IncomingWebhook/⟦3f1c0a9be2d47586c1f0e9d8b7a69584⟧/x"],
        passed: &["/IncomingWebhook/", "/IncomingWebhook/setup"],
        ..RULE
    },
    Rule {
        id: "telegram-token",
        about: "tokens of Telegram bots",
        anchors: &[":AA"],
        lead: |byte| byte.is_ascii_digit(),
        shape: r"\d{8,10}:AA[A-Za-z0-9_-]{32,34}\b",
        found: &[
            "to ⟦123456789:AAk3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uY⟧",
            "/bot⟦123456789:AAk3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uY⟧/send",
        ],
        edge: |byte| byte == b'.',
        passed: &["20:AAPL", "12345678:AAbattery"],
        ..RULE
    },
    Rule {
        id: "stripe-key",
        about: "secret keys of Stripe",
        anchors: &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
        shape: r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
        found: &[
            "⟦sk_test_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4⟧",
            "⟦whsec_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6S⟧",
        ],
        passed: &[
            "pk_live_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4",
            "sk_live_",
            "sk_test_mode",
        ],
        ..RULE
    },
    Rule {
        id: "sendgrid-key",
        about: "API keys of SendGrid",
        anchors: &["SG."],
        shape: r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        found: &["⟦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⟧"],
        passed: &["SG.png", "MSG.k3Jd8fLq2Wz7Xn5Rb1Tc9V.m4Ph6SwE0uYiA7k3Jd8"],
        ..RULE
    },
    Rule {
        id: "twilio-key",
        about: "API keys of Twilio",
        anchors: &["SK"],
        edge: is_letter,
        shape: r"SK[0-9a-f]{32}\b",
        found: &["⟦SK3f1c0a9be2d47586c1f0e9d8b7a69584⟧"],
        passed: &["SK", "RISK3f1c0a9be2d47586c1f0e9d8b7a69584", "SK3f1c0a9b"],
        ..RULE
    },
    Rule {
        id: "mail-key",
        about: "API keys of Mailgun and Mailchimp",
        anchors: &["key-", "-us"],
        lead: |byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        edge: is_of_name,
        shape: r"(?:key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2})\b",
        found: &[
            "⟦key-3f1c0a9be2d47586c1f0e9d8b7a69584⟧",
            "⟦3f1c0a9be2d47586c1f0e9d8b7a69584-us21⟧",
        ],
        passed: &[
            "key-value",
            "c-us-east-1",
            "primary-key-3f1c0a9be2d47586c1f0e9d8b7a69584",
        ],
        ..RULE
    },
    Rule {
        id: "shopify-token",
        about: "tokens of Shopify",
        anchors: &["shpat_", "shpca_", "shppa_", "shpss_", "shpua_", "shptka_"],
        shape: r"shp(?:at|ca|pa|ss|ua|tka)_[a-fA-F0-9]{32}",
        found: &["⟦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⟧"],
        passed: &["shpat_"],
        ..RULE
    },
    Rule {
        id: "square-token",
        about: "tokens of Square",
        anchors: &["sq0atp-", "sq0csp-", "EAAAE", "EAAAl"],
        edge: is_letter,
        shape: r"(?:(sq0(?:atp|csp)-[A-Za-z0-9_-]{22,})|(EAAA[El][A-Za-z0-9_-]{59})(?:[^A-Za-z0-9+/=_-]|\z))",
        found: &[
            "⟦sq0atp-k3Jd8fLq2Wz7Xn5Rb1Tc9V⟧",
            "⟦EAAAEk3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq2Wz7Xn5Rb1Tc9Vm⟧.",
        ],
        passed: &["sq0atp-", "sq0"],
        ..RULE
    },
    Rule {
        id: "notion-token",
        about: "tokens of Notion",
        anchors: &["ntn_", "secret_"],
        shape: r"(?:ntn_|secret_)[A-Za-z0-9]{40,}\b",
        found: &["⟦ntn_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8f⟧"],
        passed: &["secret_name", "ntn_"],
        ..RULE
    },
    Rule {
        id: "figma-token",
        about: "tokens of Figma",
        anchors: &["figd_", "figo_"],
        shape: r"fig[do]_[A-Za-z0-9_-]{36,}",
        found: &["⟦figd_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3⟧"],
        passed: &["figd_"],
        ..RULE
    },
    Rule {
        id: "airtable-token",
        about: "tokens of Airtable",
        anchors: &["pat"],
        shape: r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
        found: &[
            "⟦patk3Jd8fLq2Wz7Xn.3f1c0a9be2d47586c1f0e9d8b7a6958473625140fedcba98765432100a1b2c3d⟧",
        ],
        passed: &["path.3f1c", "pattern"],
        ..RULE
    },
    Rule {
        id: "postman-key",
        about: "API keys of Postman",
        anchors: &["PMAK-", "PMAT-"],
        shape: r"(?:PMAK-[a-f0-9]{24}-[a-f0-9]{34}|PMAT-[A-Z0-9]{26}\b)",
        found: &[
            "⟦PMAK-3f1c0a9be2d47586c1f0e9d8-b7a6958473625140fedcba987654321000⟧",
            "⟦PMAT-01K3JD8FLQ2WZ7XN5RB1TC9VM4⟧",
        ],
        passed: &["PMAK-"],
        ..RULE
    },
    Rule {
        id: "newrelic-key",
        about: "API keys of New Relic",
        anchors: &["NRAK-", "NRII-", "NRIQ-", "NRRA-", "NRAL"],
        lead: |byte| byte.is_ascii_hexdigit(),
        shape: r"(?:NR(?:AK|I[IQ]|RA)-[A-Za-z0-9_-]{27,}|[a-f0-9]{36}NRAL\b)",
        found: &[
            "⟦NRAK-K3JD8FLQ2WZ7XN5RB1TC9VM4PH6⟧",
            "license ⟦3f1c0a9be2d47586c1f0e9d8b7a695847362NRAL⟧",
        ],
        passed: &["NRAK-"],
        ..RULE
    },
    Rule {
        id: "grafana-token",
        about: "tokens of Grafana",
        anchors: &["glsa_", "glc_", "eyJrIjoi"],
        edge: is_letter,
        shape: r"(?:eyJrIjoi[A-Za-z0-9+/_-]{60,}={0,2}|glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2})",
        found: &[
            "⟦glsa_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0u_3f1c0a9b⟧",
            "⟦eyJrIjoiazNKZDhmTHEyV3o3WG41UmIxVGM5Vm00UGg2U3dFMHUiLCJuIjoiYSIsImlkIjoxfQ==⟧",
        ],
        passed: &["glsa_", "glc_x"],
        ..RULE
    },
    Rule {
        id: "dropbox-token",
        about: "tokens of Dropbox",
        anchors: &["sl.u.", "sl.B"],
        shape: r"sl\.(?:u\.)?[A-Za-z0-9_-]{80,}",
        found: &[
            "⟦sl.Bk3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq2⟧",
        ],
        passed: &["sl.Bar"],
        ..RULE
    },
    Rule {
        id: "discord-token",
        about: "tokens of Discord bots",
        // They begin with the id of the bot in base64: they are tried where there is some.
        anchors: &[],
        lead: |byte| matches!(byte, b'M'..=b'O'),
        edge: is_letter,
        shape: r"[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}\b",
        holds: |text| {
            is_number(&decode(
                text.split('.').next().unwrap_or_default().as_bytes(),
            ))
        },
        found: &[
            "login ⟦MTIzNDU2Nzg5MDEyMzQ1Njc4OQ.GabcDE.k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3⟧",
            "⟦MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcDE.k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE⟧",
        ],
        passed: &[
            "MTIzNDU2Nzg5MDEyMzQ1Njc4OQ",
            "NotificationManagerFactory.create.AndReturnWhateverTheHostSays",
            "MTIzNDU2Nzg5MDEyMzQ1Njc4.abc",
        ],
        ..RULE
    },
    Rule {
        id: "service-token",
        about: "tokens of Resend, Brevo, HubSpot, ClickUp, Contentful and PostHog",
        anchors: &[
            "re_",
            "xkeysib-",
            "xsmtpsib-",
            "pat-na1-",
            "pat-eu1-",
            "pk_",
            "CFPAT-",
            "phx_",
        ],
        edge: is_of_name,
        shape: r"(?:re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}|x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}|pat-(?:na|eu)1-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}|pk_\d{6,9}_[A-Z0-9]{32}|CFPAT-[A-Za-z0-9_-]{43}|phx_[A-Za-z0-9]{40,})\b",
        holds: has_digit,
        found: &[
            "⟦re_k3Jd8fLq_2Wz7Xn5Rb1Tc9Vm4Ph6SwE0u⟧",
            "⟦pat-na1-3f1c0a9b-e2d4-7586-c1f0-e9d8b7a69584⟧",
            "⟦pk_47114711_K3JD8FLQ2WZ7XN5RB1TC9VM4PH6SWE0U⟧",
        ],
        passed: &[
            "re_",
            "pk_live_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4",
            "core_k3Jd8fLq_2Wz7Xn5Rb1Tc9Vm4Ph6SwE0u",
        ],
        ..RULE
    },
];

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether it is an id of many digits.
fn is_number(text: &[u8]) -> bool {
    (17..=20).contains(&text.len()) && text.iter().all(u8::is_ascii_digit)
}

/// Models and those who serve them.
pub(super) const MODELS: &[Rule] = &[
    Rule {
        id: "model-key",
        about: "API keys of OpenAI, Anthropic, OpenRouter, DeepSeek and others",
        anchors: &["sk-"],
        edge: is_of_name,
        shape: r"sk-[A-Za-z0-9_-]{20,}",
        holds: is_mixed,
        found: &[
            "⟦sk-proj-k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq2Wz7Xn5⟧",
            "⟦sk-ant-api03-k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7⟧",
            "⟦sk-or-v1-3f1c0a9be2d47586c1f0e9d8b7a6958473625140fedcba98⟧",
        ],
        passed: &[
            "sk-loading-spinner-container-2",
            "task-k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4",
            "sk-",
        ],
        ..RULE
    },
    Rule {
        id: "huggingface-token",
        about: "tokens of Hugging Face",
        anchors: &["hf_", "api_org_"],
        shape: r"(?:hf_|api_org_)[A-Za-z0-9]{34,}\b",
        found: &["⟦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⟧"],
        passed: &["hf_hub_download", "hf_"],
        ..RULE
    },
    Rule {
        id: "groq-key",
        about: "API keys of Groq, xAI, Perplexity, Replicate and Tavily",
        anchors: &["gsk_", "xai-", "pplx-", "r8_", "tvly-"],
        edge: is_of_name,
        shape: r"(?:gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{36,}|tvly-[A-Za-z0-9-]{28,})\b",
        found: &[
            "⟦gsk_k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq2Wz7⟧",
            "⟦pplx-k3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6SwE0uYiA7k3Jd8fLq⟧",
        ],
        passed: &["gsk_", "xai-grok", "r8_x"],
        ..RULE
    },
    Rule {
        id: "agent-key",
        about: "keys of what models are given: NVIDIA, Cerebras, Pinecone, Jina, LangSmith, LlamaCloud, Firecrawl, Fireworks, Brave, E2B and Apify",
        anchors: &[
            "nvapi-",
            "csk-",
            "pcsk_",
            "jina_",
            "lsv2_",
            "llx-",
            "fc-",
            "fw_",
            "tgp_v1_",
            "BSA",
            "e2b_",
            "apify_api_",
        ],
        edge: is_of_name,
        shape: r"(?:nvapi-[A-Za-z0-9_-]{60,}|csk-[a-z0-9]{40,}|pcsk_[A-Za-z0-9_]{50,}|jina_[A-Za-z0-9_-]{50,}|lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|llx-[A-Za-z0-9]{40,}|fc-[a-f0-9]{32}|fw_[A-Za-z0-9]{22,}|tgp_v1_[A-Za-z0-9_-]{40,}|BSA[A-Za-z0-9_-]{27,28}|e2b_[a-f0-9]{40}|apify_api_[A-Za-z0-9]{36})\b",
        holds: |text| {
            let digits = text.bytes().filter(u8::is_ascii_digit).count();
            digits >= 2 && !(text.starts_with("BSA") && entropy::is_read(text.as_bytes()))
        },
        found: &[
            "⟦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⟧",
            "⟦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⟧",
            "⟦fc-3f1c0a9be2d47586c1f0e9d8b7a69584⟧",
            "⟦BSAk3Jd8fLq2Wz7Xn5Rb1Tc9Vm4Ph6⟧",
        ],
        passed: &[
            "fc-list",
            "fw_",
            "BSA",
            "a-fc-3f1c0a9be2d47586c1f0e9d8b7a69584",
            "e2b_template",
        ],
        ..RULE
    },
];

/// Whether the last word of it is long and mixed: class names look alike but for that.
fn is_mixed(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let longest = text.split(['-', '_']).map(str::len).max().unwrap_or(0);
    digits >= 2 && longest >= 12
}
