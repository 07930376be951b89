//! What the file says about the viewer: `[viewer]`, `[viewer.keys.CONTEXT]`, `[[viewer.rules]]`,
//! `[viewer.views]`.

use super::reading::{Reading, Setting};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const KEYS: &[&str] = &[
    "theme", "color", "ascii", "motion", "mouse", "keys", "rules", "views",
];

const VIEW_KEYS: &[&str] = &["filter", "view", "wire", "sort", "reverse"];

const RULE_KEYS: &[&str] = &["name", "filter", "style"];

/// What the viewer looks like, and its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Viewer {
    pub theme: Option<Setting>,
    pub color: Option<Setting>,
    /// `true`: nothing but ASCII is drawn.
    pub ascii: Option<Setting>,
    /// `false`: nothing moves by itself.
    pub motion: Option<Setting>,
    /// `false`: the terminal keeps the mouse.
    pub mouse: Option<Setting>,
    /// Keys in place of the usual ones.
    pub keys: Vec<Binding>,
    /// Colour rules, in place of the usual ones.
    pub rules: Vec<Rule>,
    pub views: Vec<NamedView>,
}

/// Which rows are shown, and how, under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedView {
    pub name: Setting,
    /// Which rows; all of them without.
    pub filter: Option<Setting>,
    /// `exchanges`, `timeline`, `stats` or `findings`.
    pub view: Option<Setting>,
    pub wire: Option<Setting>,
    /// The column by which the statistics are sorted.
    pub sort: Option<Setting>,
    pub reverse: Option<Setting>,
}

/// Keys in place of the usual ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub context: Setting,
    pub action: Setting,
    pub keys: Setting,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub name: Option<Setting>,
    pub filter: Setting,
    pub style: Setting,
}

impl Viewer {
    pub(super) fn read(value: &Spanned<DeValue<'_>>, reading: &mut Reading<'_>) -> Self {
        let mut viewer = Self::default();
        let DeValue::Table(table) = value.get_ref() else {
            reading.wrong::<()>("viewer", value, "a table");
            return viewer;
        };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "theme" => viewer.theme = reading.text("theme", value),
                "color" => viewer.color = reading.text("color", value),
                "ascii" => viewer.ascii = reading.switch("ascii", value),
                "motion" => viewer.motion = reading.switch("motion", value),
                "mouse" => viewer.mouse = reading.switch("mouse", value),
                "keys" => viewer.keys = contexts(value, reading),
                "rules" => viewer.rules = rules(value, reading),
                "views" => viewer.views = views(value, reading),
                _ => reading.unknown(key, KEYS),
            }
        }
        viewer
    }
}

/// A table of a table of keys, per context.
fn contexts(value: &Spanned<DeValue<'_>>, reading: &mut Reading<'_>) -> Vec<Binding> {
    let mut bindings = Vec::new();
    let DeValue::Table(contexts) = value.get_ref() else {
        reading.wrong::<()>(
            "keys",
            value,
            "a table per context, such as [viewer.keys.list]",
        );
        return bindings;
    };
    for (context, value) in contexts {
        let DeValue::Table(actions) = value.get_ref() else {
            reading.wrong::<()>(context.get_ref(), value, "a table of actions and keys");
            continue;
        };
        for (action, keys) in actions {
            if let Some(keys) = reading.text(action.get_ref(), keys) {
                bindings.push(Binding {
                    context: named(context, reading),
                    action: named(action, reading),
                    keys,
                });
            }
        }
    }
    bindings
}

fn named<T: AsRef<str>>(key: &Spanned<T>, reading: &Reading<'_>) -> Setting {
    Setting {
        text: key.get_ref().as_ref().to_owned(),
        at: reading.at(key),
    }
}

fn rules(value: &Spanned<DeValue<'_>>, reading: &mut Reading<'_>) -> Vec<Rule> {
    let DeValue::Array(array) = value.get_ref() else {
        reading.wrong::<()>("rules", value, "an array of tables, each [[viewer.rules]]");
        return Vec::new();
    };
    let mut rules = Vec::new();
    for value in array {
        match value.get_ref() {
            DeValue::Table(table) => rules.extend(rule(value, table, reading)),
            _ => {
                reading.wrong::<()>("rules", value, "a table with filter and style");
            }
        }
    }
    rules
}

fn rule(
    value: &Spanned<DeValue<'_>>,
    table: &DeTable<'_>,
    reading: &mut Reading<'_>,
) -> Option<Rule> {
    let (mut name, mut filter, mut style) = (None, None, None);
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "name" => name = reading.text("name", value),
            "filter" => filter = reading.text("filter", value),
            "style" => style = reading.text("style", value),
            _ => reading.unknown(key, RULE_KEYS),
        }
    }
    let (Some(filter), Some(style)) = (filter, style) else {
        return reading.wrong("rules", value, "a table with filter and style");
    };
    Some(Rule {
        name,
        filter,
        style,
    })
}

/// A table of filters, or of tables with one.
fn views(value: &Spanned<DeValue<'_>>, reading: &mut Reading<'_>) -> Vec<NamedView> {
    let DeValue::Table(table) = value.get_ref() else {
        reading.wrong::<()>("views", value, "a table of names and filters");
        return Vec::new();
    };
    let mut views = Vec::new();
    for (name, value) in table {
        let mut view = NamedView {
            name: named(name, reading),
            filter: None,
            view: None,
            wire: None,
            sort: None,
            reverse: None,
        };
        let DeValue::Table(keys) = value.get_ref() else {
            view.filter = reading.text(name.get_ref(), value);
            views.extend(view.filter.is_some().then_some(view));
            continue;
        };
        for (key, value) in keys {
            match key.get_ref().as_ref() {
                "filter" => view.filter = reading.text("filter", value),
                "view" => view.view = reading.text("view", value),
                "wire" => view.wire = reading.switch("wire", value),
                "sort" => view.sort = reading.text("sort", value),
                "reverse" => view.reverse = reading.switch("reverse", value),
                _ => reading.unknown(key, VIEW_KEYS),
            }
        }
        views.push(view);
    }
    views
}
