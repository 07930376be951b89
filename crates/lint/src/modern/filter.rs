//! What a `subscriptions/listen` request asks for.

use mcpreel_wire::json::Value;

/// Resources of one subscription that are remembered. One with more of them is not judged by them.
const URIS: usize = 256;

/// Bytes of the resources of one subscription that are remembered: they can be as long as a line.
const TEXT: usize = 8 << 10;

#[derive(Debug)]
pub(super) enum Filter {
    Any,
    Only {
        lists: Vec<&'static str>,
        uris: Vec<Box<str>>,
    },
}

/// The members that ask for changes of lists, and the notifications that tell of them.
pub(super) const LISTS: [(&str, &str); 3] = [
    ("toolsListChanged", "notifications/tools/list_changed"),
    ("promptsListChanged", "notifications/prompts/list_changed"),
    (
        "resourcesListChanged",
        "notifications/resources/list_changed",
    ),
];

pub(super) const UPDATED: &str = "notifications/resources/updated";

impl Filter {
    pub(super) fn of(filter: Option<Value<'_>>) -> Self {
        let Some(filter) = filter else {
            return Self::Any;
        };
        let asks = |name: &str| {
            filter
                .get(name)
                .is_some_and(|it| it.as_bool() == Some(true))
        };
        let lists = LISTS.iter().filter(|(member, _)| asks(member));
        let uris = filter.get("resourceSubscriptions");
        let too_much =
            |uris: &Value<'_>| uris.raw().len() > TEXT || uris.elements().nth(URIS).is_some();
        if uris.as_ref().is_some_and(too_much) {
            return Self::Any;
        }
        let uris = uris.into_iter().flat_map(|uris| uris.elements());
        Self::Only {
            lists: lists.map(|(_, method)| *method).collect(),
            uris: uris.filter_map(|uri| Some(uri.as_str()?.into())).collect(),
        }
    }
}
