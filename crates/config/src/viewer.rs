//! What the file says about the viewer: `[viewer]`, `[viewer.keys.CONTEXT]`.

use super::reading::{Reading, Setting};
use toml::Spanned;
use toml::de::DeValue;

const KEYS: &[&str] = &["theme", "color", "ascii", "motion", "mouse", "keys"];

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
}

/// Keys in place of the usual ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub context: Setting,
    pub action: Setting,
    pub keys: Setting,
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
