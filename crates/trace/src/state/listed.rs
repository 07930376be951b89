//! What a side had been told that there is.

use crate::frame::Seq;
use mcpreel_wire::json::Value;

/// Names that are kept of a list: a hostile one could hold a million.
const KEPT: usize = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum List {
    Tools,
    Prompts,
    Resources,
    /// The server's resource templates.
    Templates,
    Roots,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Names or URIs in the order of the answers.
    pub names: Vec<Box<str>>,
    /// How many there were; more than names where there were very many.
    pub count: usize,
    pub answered: Option<Seq>,
    /// The first notification since then that it had changed.
    pub stale_since: Option<Seq>,
    /// Whether the last answer said that there is more.
    pub more: bool,
}

impl List {
    pub const ALL: [Self; 5] = [
        Self::Tools,
        Self::Prompts,
        Self::Resources,
        Self::Templates,
        Self::Roots,
    ];

    /// `tools`, `prompts`, `resources`, `resource templates` or `roots`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resource templates",
            Self::Roots => "roots",
        }
    }

    /// The list that a request asks for.
    pub(super) fn of_request(method: &str) -> Option<Self> {
        Some(match method {
            "tools/list" => Self::Tools,
            "prompts/list" => Self::Prompts,
            "resources/list" => Self::Resources,
            "resources/templates/list" => Self::Templates,
            "roots/list" => Self::Roots,
            _ => return None,
        })
    }

    /// The list that a notification says has changed.
    pub(super) fn of_change(method: &str) -> Option<Self> {
        Some(match method {
            "notifications/tools/list_changed" => Self::Tools,
            "notifications/prompts/list_changed" => Self::Prompts,
            "notifications/resources/list_changed" => Self::Resources,
            "notifications/roots/list_changed" => Self::Roots,
            _ => return None,
        })
    }

    /// The member that holds the list, and the member that names an element.
    fn members(self) -> (&'static str, &'static str) {
        match self {
            Self::Tools => ("tools", "name"),
            Self::Prompts => ("prompts", "name"),
            Self::Resources => ("resources", "uri"),
            Self::Templates => ("resourceTemplates", "uriTemplate"),
            Self::Roots => ("roots", "uri"),
        }
    }
}

impl Listed {
    /// It has changed, says the frame `seq`.
    pub(super) fn changed(&mut self, seq: Seq) {
        if self.answered.is_some() {
            self.stale_since.get_or_insert(seq);
        }
    }

    /// The frame `answered` says what there is, to the request `asked`: a further page, or anew.
    /// An answer to a request from before the change may not know of it.
    pub(super) fn answer(
        &mut self,
        list: List,
        asked: Seq,
        answered: Seq,
        further: bool,
        result: Value<'_>,
    ) {
        if !further {
            self.names.clear();
            self.count = 0;
            self.stale_since = self.stale_since.filter(|changed| *changed > asked);
        }
        let (member, name) = list.members();
        for element in result.get(member).iter().flat_map(Value::elements) {
            self.count += 1;
            if self.names.len() < KEPT {
                let name = element.get(name).and_then(|name| name.as_str());
                self.names.push(name.unwrap_or_default().into());
            }
        }
        self.answered = Some(answered);
        self.more = result.get("nextCursor").is_some_and(|next| !next.is_null());
    }
}
