//! The rules, by who gives such secrets out.

mod clouds;
mod code;
mod commands;
mod headers;
mod hosts;
mod models;
mod options;
mod services;
mod tools;
mod vaults;

use super::rule::Rule;

/// Rules that are in force only where they are asked for.
pub const OPTIONAL: [&str; 2] = ["email", "home-folder"];

/// Rules that are no shape: what they find.
pub const SPECIAL: [(&str, &str); 5] = [
    (
        "key-name",
        "values of keys, variables, options and headers whose names say that they are secret",
    ),
    (
        "known-value",
        "values that are secret elsewhere in the same session, also as base64, in hex digits, percent-encoded or escaped",
    ),
    (
        "private-key",
        "private keys in PEM, also in lines of their own",
    ),
    (
        "url-password",
        "passwords and tokens in front of the host of a URL",
    ),
    (
        "json-path",
        "values that a path of the configuration leads to",
    ),
];

pub fn all() -> impl Iterator<Item = &'static Rule> {
    let families = [
        clouds::RULES,
        hosts::RULES,
        vaults::RULES,
        code::RULES,
        services::RULES,
        commands::RULES,
        tools::RULES,
        models::RULES,
        headers::RULES,
        options::RULES,
    ];
    families.into_iter().flatten()
}
