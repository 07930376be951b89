//! Filters for rows like the selected one.

use crate::app::menu::{Choice, Entry, Menu};
use crate::app::{App, Overlay};
use crate::effect::Effects;
use mcpreel_trace::item::Item;
use mcpreel_trace::query::ast::Field;
use mcpreel_trace::query::value_text;

pub fn offer(app: &mut App) -> Effects {
    let item = app
        .session
        .as_deref()
        .and_then(|session| session.list.selected_item());
    let entries = item.map(alike).unwrap_or_default();
    if entries.is_empty() {
        app.notices
            .success("nothing of this row can be filtered by", app.now);
        return vec![];
    }
    let menu = Menu::new("filter rows with the same …", entries);
    app.overlays.push(Overlay::Menu(menu));
    vec![]
}

/// The filters that a row suggests.
fn alike(item: &Item) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut offer = |letter, what: &str, filter: String| {
        entries.push(Entry {
            letter,
            label: format!("{what:<8} {}", mcpreel_wire::text::escape(&filter)),
            choice: Choice::Filter(filter),
        });
    };
    let exact =
        |field: Field, value: &str| format!("{}={}", field.as_str(), value_text(field, value));
    if let Some(method) = item.method() {
        offer('m', "method", exact(Field::Method, method));
    }
    if let Some(name) = item.name() {
        offer('n', "name", exact(Field::Name, name));
    }
    if let (Some(method), Some(name)) = (item.method(), item.name()) {
        let filter = format!(
            "{} {}",
            exact(Field::Method, method),
            exact(Field::Name, name)
        );
        offer('c', "call", filter);
    }
    if let Some(exchange) = item.exchange() {
        offer(
            's',
            "status",
            format!("status:{}", exchange.status.as_str()),
        );
        offer('i', "id", format!("id:{}", exchange.rpc_id.json()));
        if let Some(task) = &exchange.task {
            offer('t', "task", exact(Field::Task, task));
        }
        let (first, last) = (exchange.request.0.0, exchange.response);
        if let Some((last, _)) = last {
            offer('r', "time", format!("seq:{first}..{}", last.0));
        }
    }
    offer('d', "kind", format!("kind:{}", item.kind().as_str()));
    entries
}
