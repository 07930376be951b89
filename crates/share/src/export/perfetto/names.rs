//! What the parts of a trace are called.

use super::event::{Args, Event, Track};
use super::{NAME, Trace};
use crate::export::WriteError;
use crate::phrases::{self, when};
use mcpreel_store::reader::Summary;
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::text::{cut, escape};
use serde_json::json;
use std::io::Write;

impl<W: Write> Trace<'_, W> {
    /// What the processes and tracks are called.
    pub(super) fn names(&mut self, summary: &Summary) -> Result<(), WriteError> {
        let session = &summary.session;
        let client = phrases::peer(&session.client);
        let server = phrases::peer(&session.server);
        let server = server.unwrap_or_else(|| escape(&summary.name).into_owned());
        let sides = [
            (
                Track::CLIENT,
                format!("client {}", client.unwrap_or_default()),
            ),
            (Track::SERVER, format!("server {server}")),
        ];
        for (pid, name) in sides {
            let name = cut(name.trim_end(), NAME);
            self.push(&Event::meta(
                Track::whole(pid),
                "process_name",
                Args::name(&name),
            ))?;
            let order = Args::order(u64::from(pid));
            self.push(&Event::meta(Track::whole(pid), "process_sort_index", order))?;
        }
        for track in Track::ALL {
            self.push(&Event::meta(track, "thread_name", Args::name(track.name())))?;
        }
        Ok(())
    }
}

pub(super) fn about(summary: &Summary, is_untimed: bool) -> serde_json::Value {
    json!({
        "recording": summary.id,
        "name": escape(&summary.name),
        "started": (summary.wall_ns > 0).then(|| when::rfc3339(summary.wall_ns)),
        "times": is_untimed.then_some(phrases::UNTIMED),
        "protocol": summary.session.version().map(escape),
        "tool": format!("mcpreel {}", env!("CARGO_PKG_VERSION")),
    })
}

/// The track of an exchange: there are as many as methods, tools and prompts. A URI of its own for
/// each would be a track of its own for each.
pub(super) fn name_of(exchange: &Exchange) -> String {
    let is_named = matches!(&*exchange.method, "tools/call" | "prompts/get");
    let name = exchange.name.as_deref().filter(|_| is_named);
    let named = name.map_or_else(
        || exchange.method.to_string(),
        |name| format!("{} {name}", exchange.method),
    );
    cut(&escape(&named), NAME)
}
