//! Models and those who serve them.

use crate::dense;
use crate::rule::{RULE, Rule, is_of_name};

/// Whether the last word of it is long and mixed: class names look alike but for that.
fn is_mixed(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let longest = text.split(['-', '_']).map(str::len).max().unwrap_or(0);
    digits >= 2 && longest >= 12
}

pub(super) const RULES: &[Rule] = &[
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
            digits >= 2 && !(text.starts_with("BSA") && dense::is_read(text.as_bytes()))
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
