//! What a server asks of its client: by a request of its own, or, since 2026-07-28, in a result
//! that asks for input first.

use crate::seen::Part;
use crate::shape::place::Place;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::Body;

/// Requests in one result that are looked at. Without a limit a hostile one would take long in
/// every rule that looks at them.
const IN_ONE_RESULT: usize = 64;

/// One thing that a server asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking<'a, 'p> {
    pub params: Value<'a>,
    pub place: &'p Place<'p>,
    /// Its key among what a result asks for.
    pub key: Option<Value<'a>>,
}

/// Shows each request for `method` that is in the message.
pub(super) fn each<'a>(part: &Part<'a>, method: &str, show: &mut dyn FnMut(Asking<'a, '_>)) {
    match part.message.body {
        Body::Request(_) if part.method() == Some(method) => {
            if let Some(params) = part.params() {
                let (place, key) = (&Place::top("params"), None);
                show(Asking { params, place, key });
            }
        }
        Body::Response(_) => {
            let Some(requests) = part.result().and_then(|result| result.get("inputRequests"))
            else {
                return;
            };
            let result = Place::top("result");
            let all = result.member("inputRequests");
            for (name, request) in requests.members().take(IN_ONE_RESULT) {
                let is_it = request.get("method").is_some_and(|one| one.is_str(method));
                if let Some(params) = request.get("params").filter(|_| is_it) {
                    let key = Some(name);
                    let place = &all.named(name);
                    let place = &place.member("params");
                    show(Asking { params, place, key });
                }
            }
        }
        _ => {}
    }
}
