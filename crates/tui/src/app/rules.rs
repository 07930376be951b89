//! Which rows have which colour.

use crate::theme::{Colors, Look, Role};
use mcpreel_config::viewer;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::DEFAULT_SLOW_NS;
use mcpreel_trace::item::Item;
use mcpreel_trace::query::{Bodies, Context, Matcher, Query};
use ratatui::style::{Color, Modifier, Style};

/// A colour rule: rows that fit have this colour, unless a rule before fits.
#[derive(Clone, Debug)]
pub struct Rule {
    pub name: String,
    pub paint: Paint,
    filter: String,
    matcher: Matcher,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Role(Role),
    Style(Style),
}

impl Paint {
    /// What `bold green` and the like mean; none if a word means nothing.
    pub fn parse(words: &str) -> Option<Self> {
        let mut style = Style::new();
        for word in words.split_whitespace() {
            style = match word {
                "bold" => style.add_modifier(Modifier::BOLD),
                "faint" => style.add_modifier(Modifier::DIM),
                "italic" => style.add_modifier(Modifier::ITALIC),
                "underline" => style.add_modifier(Modifier::UNDERLINED),
                "reverse" => style.add_modifier(Modifier::REVERSED),
                color => style.fg(color.parse::<Color>().ok()?),
            };
        }
        Some(Self::Style(style))
    }

    pub fn style(self, look: &Look) -> Style {
        match self {
            Self::Role(role) => look.style(role),
            Self::Style(style) if look.colors == Colors::None => Style { fg: None, ..style },
            Self::Style(style) => style,
        }
    }
}

/// The rules of the configuration, or the usual ones where it has none. What cannot be one is a
/// fault.
pub fn configured(rules: &[viewer::Rule], faults: &mut Vec<String>) -> Vec<Rule> {
    if rules.is_empty() {
        return Rule::defaults();
    }
    let mut made = Vec::new();
    for rule in rules {
        let name = rule.name.as_ref().unwrap_or(&rule.filter);
        let Some(paint) = Paint::parse(&rule.style.text) else {
            let style = mcpreel_wire::text::escape(&rule.style.text);
            faults.push(format!("{}: `{style}` is no style", rule.style.at));
            continue;
        };
        match Rule::new(&name.text, &rule.filter.text, paint) {
            Ok(rule) => made.push(rule),
            Err(error) => {
                let error = error.to_string();
                faults.push(format!(
                    "{}: {}",
                    rule.filter.at,
                    mcpreel_wire::text::escape(&error)
                ));
            }
        }
    }
    made
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("colour rule `{name}`: {source}")]
    Filter {
        name: String,
        source: mcpreel_trace::query::QueryError,
    },
    /// It would have to read the bodies of all rows that are drawn.
    #[error("colour rule `{name}`: its filter looks into messages, and rows are drawn without")]
    Bodies { name: String },
}

/// The rules where nothing is configured.
const DEFAULTS: [(&str, &str, Role); 8] = [
    ("failed", "is:failed", Role::Bad),
    ("open", "is:open", Role::Open),
    ("slow", "is:slow", Role::Warn),
    ("from the server", "kind:request dir:s2c", Role::FromServer),
    ("notification", "kind:notification", Role::Notification),
    ("stderr", "kind:stderr", Role::Stderr),
    ("event", "kind:event", Role::Event),
    ("other", "kind:other", Role::Warn),
];

impl Rule {
    /// The rule `name` that gives rows that fit `filter` the this look.
    pub fn new(name: &str, filter: &str, paint: Paint) -> Result<Self, RuleError> {
        let named = || name.to_owned();
        let query = Query::parse(filter).map_err(|source| RuleError::Filter {
            name: named(),
            source,
        })?;
        let context = Context {
            // No rule knows when a recording ends: moments before its end fit nothing.
            end: Moment(0),
            slow_ns: DEFAULT_SLOW_NS,
        };
        let matcher = Matcher::new(&query, context);
        if matcher.needs_bodies() {
            return Err(RuleError::Bodies { name: named() });
        }
        Ok(Self {
            name: named(),
            paint,
            filter: filter.to_owned(),
            matcher,
        })
    }

    pub fn filter(&self) -> &str {
        &self.filter
    }

    pub fn fits(&self, item: &Item, bodies: &mut dyn Bodies) -> bool {
        self.matcher.fits(item, bodies)
    }

    /// The rules where nothing is configured.
    pub fn defaults() -> Vec<Self> {
        let rule =
            |(name, filter, role): (&str, &str, Role)| Self::new(name, filter, Paint::Role(role));
        let rules = DEFAULTS.into_iter().map(rule);
        rules.filter_map(Result::ok).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_rule_is_one() {
        assert_eq!(Rule::defaults().len(), DEFAULTS.len());
    }

    #[test]
    fn a_rule_that_would_read_bodies_is_refused() {
        let rule = Rule::new("deep", "params.arguments.q:x", Paint::Role(Role::Bad));
        assert!(matches!(rule, Err(RuleError::Bodies { .. })));
        let rule = Rule::new("odd", "metod:x", Paint::Role(Role::Bad));
        assert!(matches!(rule, Err(RuleError::Filter { .. })));
    }
}
