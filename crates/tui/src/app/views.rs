//! Views with a name: which rows of a recording are shown, and how.
//!
//! Some are a person's own, saved in the viewer and kept for the next time; some stand in the
//! configuration, which comes first and is not changed here.

use super::Session;
use super::session::View;
use super::stats::Sort;
use mcpreel_config::{Setting, viewer};
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{count, cut, escape};
use serde::de::IntoDeserializer as _;
use serde::de::value::Error;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Views that are kept at most: more would not fit into the file that keeps them.
pub const MOST: usize = 40;

/// Bytes of a name at most: it has to fit into a chip.
const NAME: usize = 32;

const FILTER: usize = 1000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Views {
    configured: BTreeMap<String, Saved>,
    own: BTreeMap<String, Saved>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Saved {
    /// The filter; empty for all rows.
    pub filter: String,
    /// What the left or only pane shows.
    pub view: View,
    /// Whether a row of the list is a frame.
    pub wire: bool,
    /// By what the statistics are sorted.
    pub sort: Sort,
    /// Whether they are the other way round.
    pub reverse: bool,
}

/// The view that is in use, as long as nobody shows something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InUse {
    pub name: String,
    pub shows: Saved,
    pub before: Saved,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("a name is needed: view save NAME")]
    Nameless,
    /// Its name means something else, or cannot be shown.
    #[error("a view cannot be called {0}")]
    Name(String),
    /// The configuration has one of this name.
    #[error("{0} stands in the configuration file, and is changed there")]
    Configured(String),
    /// Its filter is too long to be kept.
    #[error("a filter of more than {} bytes is not kept", count(FILTER as u64))]
    Filter,
    #[error("{MOST} views are kept at most; `view delete NAME` makes room")]
    Full,
    #[error("no view is called {0}")]
    Unknown(String),
}

impl Saved {
    /// What is shown now. A filter that is off is none.
    pub fn of(session: &Session) -> Self {
        let filter = &session.filter;
        Self {
            filter: match (filter.off, &filter.error) {
                (true, _) => String::new(),
                (false, None) => filter.text.trim().to_owned(),
                (false, Some(_)) => filter.query.to_string(),
            },
            view: session.view,
            wire: session.lens == Lens::Wire,
            sort: session.stats.sort,
            reverse: session.stats.reverse,
        }
    }

    pub fn lens(&self) -> Lens {
        if self.wire {
            Lens::Wire
        } else {
            Lens::Exchanges
        }
    }

    /// What it shows in words, escaped: `is:failed, wire, stats by p95`.
    pub fn told(&self) -> String {
        let mut parts = vec![match self.filter.as_str() {
            "" => "all rows".to_owned(),
            filter => escape(filter).into_owned(),
        }];
        parts.extend(self.wire.then(|| "wire".to_owned()));
        let sorted = match self.sort {
            Sort::Count if !self.reverse => String::new(),
            sort if self.reverse => format!(" by {}, reversed", sort.title()),
            sort => format!(" by {}", sort.title()),
        };
        parts.extend(match self.view {
            View::Exchanges => None,
            View::Timeline => Some("timeline".to_owned()),
            View::Stats => Some(format!("stats{sorted}")),
            View::Findings => Some("findings".to_owned()),
        });
        parts.join(", ")
    }
}

impl Views {
    /// Those of the configuration and those that were saved. What of the configuration cannot be
    /// one is a fault.
    pub fn new(
        configured: &[viewer::NamedView],
        own: &BTreeMap<String, Saved>,
        faults: &mut Vec<String>,
    ) -> Self {
        let mut views = Self {
            own: own.clone(),
            ..Self::default()
        };
        for view in configured {
            let name = view.name.text.trim();
            if let Err(refusal) = named(name) {
                faults.push(format!("{}: {refusal}", view.name.at));
            } else if let Some(saved) = read(view, faults) {
                views.configured.insert(name.to_owned(), saved);
            }
        }
        views
    }

    /// What the view of this name shows.
    pub fn get(&self, name: &str) -> Option<&Saved> {
        self.configured.get(name).or_else(|| self.own.get(name))
    }

    pub fn all(&self) -> BTreeMap<&str, &Saved> {
        let all = self.own.iter().chain(&self.configured);
        all.map(|(name, saved)| (name.as_str(), saved)).collect()
    }

    /// Those that were saved: what is kept for the next time.
    pub fn own(&self) -> &BTreeMap<String, Saved> {
        &self.own
    }

    /// Keeps a view under a name, in place of what was saved under it.
    pub fn save(&mut self, name: &str, saved: Saved) -> Result<(), Refusal> {
        named(name)?;
        self.is_free(name)?;
        if saved.filter.len() > FILTER {
            return Err(Refusal::Filter);
        }
        if self.own.len() >= MOST && !self.own.contains_key(name) {
            return Err(Refusal::Full);
        }
        self.own.insert(name.to_owned(), saved);
        Ok(())
    }

    pub fn delete(&mut self, name: &str) -> Result<(), Refusal> {
        self.is_free(name)?;
        let gone = self.own.remove(name);
        gone.map(|_| ())
            .ok_or_else(|| Refusal::Unknown(shown(name)))
    }

    fn is_free(&self, name: &str) -> Result<(), Refusal> {
        if self.configured.contains_key(name) {
            return Err(Refusal::Configured(shown(name)));
        }
        Ok(())
    }
}

/// Whether a view may have this name.
fn named(name: &str) -> Result<(), Refusal> {
    let is_command = matches!(name.split(' ').next(), Some("save" | "delete"));
    match name {
        "" => Err(Refusal::Nameless),
        _ if is_command || name.len() > NAME || name.chars().any(char::is_control) => {
            Err(Refusal::Name(shown(name)))
        }
        _ => Ok(()),
    }
}

fn shown(name: &str) -> String {
    cut(&escape(name), NAME)
}

/// A view of the configuration; `None` if one of its words is none.
fn read(view: &viewer::NamedView, faults: &mut Vec<String>) -> Option<Saved> {
    let filter = view.filter.as_ref();
    let filter = filter.map_or(Some(String::new()), |filter| {
        let parsed = Query::parse(&filter.text);
        if let Err(error) = &parsed {
            let error = error.to_string();
            faults.push(format!("{}: {}", filter.at, escape(&error)));
        }
        parsed.ok().map(|_| filter.text.trim().to_owned())
    });
    let is = |setting: &Option<Setting>| setting.as_ref().is_some_and(|one| one.text == "true");
    let shows = word(
        view.view.as_ref(),
        "exchanges, timeline, stats, findings",
        faults,
    );
    let sort = word(
        view.sort.as_ref(),
        "the columns of the statistics: name, count, failed, p50, p95, p99, max, sent, received, rate",
        faults,
    );
    Some(Saved {
        filter: filter?,
        view: shows?,
        wire: is(&view.wire),
        sort: sort?,
        reverse: is(&view.reverse),
    })
}

/// What a word of the configuration means; where there is none, what is usual.
fn word<'s, T: Default + Deserialize<'s>>(
    setting: Option<&'s Setting>,
    words: &str,
    faults: &mut Vec<String>,
) -> Option<T> {
    let Some(setting) = setting else {
        return Some(T::default());
    };
    let read: Result<T, Error> = T::deserialize(setting.text.as_str().into_deserializer());
    if read.is_err() {
        let text = escape(&setting.text);
        faults.push(format!("{}: `{text}` is none of {words}", setting.at));
    }
    read.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_config::Config;
    use std::path::Path;

    fn saved(filter: &str) -> Saved {
        Saved {
            filter: filter.to_owned(),
            ..Saved::default()
        }
    }

    fn configured(file: &str) -> (Views, Vec<String>) {
        let (config, problems) = Config::parse(file, Path::new("c.toml"));
        assert!(problems.is_empty(), "{problems:?}");
        let mut faults = Vec::new();
        let own = BTreeMap::from([("mine".to_owned(), saved("is:open"))]);
        let views = Views::new(&config.viewer.views, &own, &mut faults);
        (views, faults)
    }

    #[test]
    fn a_view_of_the_configuration_is_a_filter_or_says_more_and_cannot_be_changed_here() {
        let (mut views, faults) = configured(
            "[viewer.views]\nfailures = 'is:failed'\nmine = 'is:slow'\n[viewer.views.times]\n\
             filter = 'tool:search'\nview = 'stats'\nwire = true\nsort = 'p95'\nreverse = true\n",
        );
        assert_eq!(faults, [""; 0]);
        assert_eq!(views.get("failures"), Some(&saved("is:failed")));
        let times = views.get("times").map(Saved::told);
        let told = "tool:search, wire, stats by p95, reversed";
        assert_eq!(times.as_deref(), Some(told));
        assert_eq!(views.get("mine"), Some(&saved("is:slow")), "it comes first");
        let refused = Err(Refusal::Configured("mine".to_owned()));
        assert_eq!(views.save("mine", saved("")), refused);
        assert_eq!(views.delete("mine"), refused);
    }

    #[test]
    fn what_cannot_be_a_view_is_left_out_and_says_where() {
        let (views, faults) = configured(
            "[viewer.views]\nsave = 'is:failed'\nodd = 'metod:x'\n[viewer.views.far]\nview = 'up'\n",
        );
        assert_eq!(views.all().into_keys().collect::<Vec<_>>(), ["mine"]);
        let beginnings = [
            "c.toml:5:8: `up` is none of exch",
            "c.toml:3:7: ",
            "c.toml:2:1: a view",
        ];
        for beginning in beginnings {
            let found = faults.iter().any(|fault| fault.starts_with(beginning));
            assert!(found, "{beginning}: {faults:?}");
        }
    }

    #[test]
    fn what_is_saved_is_bounded_and_can_be_read_back() {
        let mut views = Views::default();
        assert_eq!(views.save("", saved("")), Err(Refusal::Nameless));
        assert!(views.save("save it", saved("")).is_err());
        assert!(views.save(&"x".repeat(NAME + 1), saved("")).is_err());
        assert!(views.save("\u{1b}[2J", saved("")).is_err());
        let long = saved(&"x".repeat(FILTER + 1));
        assert_eq!(views.save("long", long), Err(Refusal::Filter));
        for nth in 0..MOST {
            assert_eq!(views.save(&format!("view {nth}"), saved("is:open")), Ok(()));
        }
        assert_eq!(views.save("more", saved("")), Err(Refusal::Full));
        assert_eq!(views.save("view 7", saved("is:late")), Ok(()));
        let text = toml::to_string(views.own()).expect("it is plain data");
        let read: BTreeMap<String, Saved> = toml::from_str(&text).expect("it was just written");
        assert_eq!(&read, views.own());
    }
}
