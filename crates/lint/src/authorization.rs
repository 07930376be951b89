//! How a client was authorized, or was not: the steps of OAuth in order, with what does not match. Pure.
//!
//! ```text
//!  challenge ─▶ resource metadata ─▶ server metadata ─▶ registration ─▶ token ─▶ accepted
//!    401          RFC 9728             RFC 8414, OpenID   RFC 7591        RFC 6749, 8707
//!      └── step-up: 403 insufficient_scope
//! ```
//!
//! Only what passed the recorder is seen. Documents name the server's own URL, so a client that logs in by
//! itself may ask there: such a step is there, too, and says so.

use crate::quote;
use fluent_uri::Uri;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::http::HttpExchange;
use mcpreel_wire::http::Head;
use mcpreel_wire::http::head::{percent_decoded, status_line};
use mcpreel_wire::json::Document;
use serde::Serialize;

/// An HTTP exchange with its heads and bodies.
#[derive(Clone, Debug, Default)]
pub struct FullExchange {
    pub http: HttpExchange,
    pub sent: Vec<u8>,
    pub received: Vec<u8>,
}

/// A step, or the place of one that did not go through the recorder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    pub kind: Kind,
    /// The frame of the request; `None` where it did not go through the recorder.
    pub frame: Option<Seq>,
    /// The conversation that it belongs to; 0: none.
    pub conversation: u32,
    /// What happened, escaped.
    pub said: String,
    /// What does not match, a sentence each, escaped.
    pub mismatches: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    /// A 401: the server wants a token, or another one.
    Challenge,
    /// The metadata of the server (RFC 9728): its name, and its authorization servers.
    ResourceMetadata,
    /// The metadata of an authorization server (RFC 8414): its endpoints.
    ServerMetadata,
    Registration,
    Token,
    /// The server answers a request that has a token.
    Accepted,
    /// A 403 with `insufficient_scope`: the token lacks a scope.
    StepUp,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    fn of(one: &FullExchange) -> Option<Self> {
        let path = one.http.target.split('?').next().unwrap_or_default();
        let well_known = |name: &str| path.contains(&format!("/.well-known/{name}"));
        let challenge = header(one.http.response_head.as_deref(), "www-authenticate");
        let is_step_up = challenge.is_some_and(|it| it.contains("insufficient_scope"));
        let is_sent = header(one.http.request_head.as_deref(), "authorization").is_some();
        Some(match one.http.status {
            _ if well_known("oauth-protected-resource") => Self::ResourceMetadata,
            _ if well_known("oauth-authorization-server") => Self::ServerMetadata,
            _ if well_known("openid-configuration") => Self::ServerMetadata,
            _ if form(&one.sent, "grant_type").is_some() => Self::Token,
            _ if first(&one.sent, "redirect_uris").is_some() => Self::Registration,
            Some(401) => Self::Challenge,
            Some(403) if is_step_up => Self::StepUp,
            Some(..300) if is_sent && one.http.has_messages => Self::Accepted,
            _ => return None,
        })
    }
}

/// The steps among these exchanges, which are in order; `server` is the URL of the server.
pub fn steps<'c>(exchanges: impl IntoIterator<Item = &'c FullExchange>, server: &str) -> Vec<Step> {
    let mut lane = Lane {
        server: server.to_owned(),
        ..Lane::default()
    };
    for one in exchanges {
        if let Some(kind) = Kind::of(one) {
            lane.add(kind, one);
        }
    }
    lane.elsewhere(None);
    lane.steps
}

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// How a mismatch ends that is about the URL of the resource.
pub(crate) const REFUSES: &str = "a client that compares the two refuses to log in";

/// The steps so far, and the values in them that later steps have to match.
#[derive(Default)]
struct Lane {
    server: String,
    steps: Vec<Step>,
    /// The URL that the client dials.
    dialled: String,
    /// Where the challenge says that the metadata of the resource is.
    announced: Option<String>,
    /// The name of the server in its metadata.
    resource: Option<String>,
    issuer: Option<String>,
    /// The scope that the challenge wants.
    scope: Option<String>,
}

impl Lane {
    fn add(&mut self, kind: Kind, one: &FullExchange) {
        let is_again = self.steps.last().is_some_and(|step| step.kind == kind);
        // What is served without a challenge before it tells nothing of the way to it.
        if kind == Kind::Accepted && (is_again || self.steps.is_empty()) {
            return;
        }
        self.elsewhere(Some(kind));
        let mismatches = match kind {
            Kind::Challenge | Kind::StepUp => self.challenge(one),
            Kind::ResourceMetadata => self.resource_metadata(one),
            Kind::ServerMetadata => self.server_metadata(one),
            Kind::Registration => refusal(one).into_iter().collect(),
            Kind::Token => self.token(one),
            Kind::Accepted => Vec::new(),
        };
        let http = &one.http;
        let line = quote::text(&format!("{} {}", http.method, http.target));
        let status = http.status.map_or("no response".to_owned(), status_line);
        let wanted = self.scope.as_ref();
        let wanted = wanted.filter(|_| matches!(kind, Kind::Challenge | Kind::StepUp));
        let wanted = wanted.map_or(String::new(), |it| format!(", scope {}", quote::text(it)));
        self.steps.push(Step {
            kind,
            frame: Some(http.request),
            conversation: http.conversation,
            said: format!("{line} → {status}{wanted}"),
            mismatches,
        });
    }

    /// Adds what went past the recorder since the challenge, as far as it shows in what comes `next`, or in
    /// that nothing more does.
    fn elsewhere(&mut self, next: Option<Kind>) {
        let is_told = matches!(next, None | Some(Kind::Token | Kind::Accepted));
        let challenge = |step: &Step| step.kind == Kind::Challenge;
        let Some(challenge) = self.steps.iter().rposition(challenge).filter(|_| is_told) else {
            return;
        };
        let since: Vec<_> = self.steps[challenge..]
            .iter()
            .map(|step| step.kind)
            .collect();
        let missed = self.missed(&since, next == Some(Kind::Accepted));
        let announced_mismatch = self.announced_mismatch().filter(|_| next.is_none());
        let conversation = self.steps[challenge].conversation;
        let missed = missed.into_iter().filter(|(kind, _)| !since.contains(kind));
        self.steps.extend(missed.map(|(kind, said)| Step {
            kind,
            frame: None,
            conversation,
            said,
            mismatches: match kind {
                Kind::ResourceMetadata => announced_mismatch.iter().cloned().collect(),
                _ => Vec::new(),
            },
        }));
    }

    /// What is wrong with the resource whose metadata are announced past the recorder: their URL holds its own
    /// where they stand at the well-known place (RFC 9728 section 3.1).
    fn announced_mismatch(&self) -> Option<String> {
        let (origin, path) = self.announced.as_ref()?.split_once(WELL_KNOWN)?;
        let resource = [origin, path].concat();
        let [said, dialled] =
            [&*resource, self.dialled.trim_start_matches("http://")].map(quote::text);
        let is_unlike = place(&resource).is_some() && !covers(&resource, &self.dialled);
        is_unlike.then(|| {
            format!("that document is for {said}, and the client dials {dialled}: {REFUSES}")
        })
    }

    /// What is not among the steps `since` the challenge, and why.
    fn missed(&self, since: &[Kind], is_accepted: bool) -> Vec<(Kind, String)> {
        let not_seen = |url: &String| format!("{} leads past mcpreel: not seen", quote::text(url));
        let authority = |url: &str| Some(place(url)?.0);
        let leads_past =
            |url: &&String| authority(url).is_some() && authority(url) != authority(&self.dialled);
        let mut missed = Vec::new();
        if since.contains(&Kind::ResourceMetadata) {
            let issuer = self.issuer.as_ref().filter(leads_past);
            missed.extend(issuer.map(|url| (Kind::ServerMetadata, not_seen(url))));
        } else {
            let announced = self.announced.as_ref().filter(leads_past);
            missed.extend(announced.map(|url| (Kind::ResourceMetadata, not_seen(url))));
        }
        if is_accepted {
            let said = "the token was not asked for through mcpreel".to_owned();
            missed.push((Kind::Token, said));
        }
        missed
    }

    fn challenge(&mut self, one: &FullExchange) -> Vec<String> {
        self.dialled = dialled(one);
        let response = one.http.response_head.iter();
        let challenges = response.flat_map(|head| head.all("www-authenticate"));
        let challenge = challenges.collect::<Vec<_>>().join(", ");
        let said = |name| parameter(&challenge, name);
        self.announced = said("resource_metadata");
        self.scope = said("scope");
        let is_sent = header(one.http.request_head.as_deref(), "authorization").is_some();
        let error = said("error_description").or_else(|| said("error"));
        let error = error.map_or(String::new(), |it| format!(": {}", quote::text(&it)));
        let is_refused = is_sent && one.http.status == Some(401);
        let mut wrong = Vec::new();
        wrong.extend(is_refused.then(|| format!("the token that was sent is refused{error}")));
        if challenge.is_empty() {
            wrong.push("WWW-Authenticate is missing: no client can log in by itself".to_owned());
        } else if self.announced.is_none() {
            let guess = "resource_metadata is missing: clients have to guess where it is";
            wrong.push(guess.to_owned());
        }
        wrong
    }

    fn resource_metadata(&mut self, one: &FullExchange) -> Vec<String> {
        if one.http.status != Some(200) {
            return Vec::new();
        }
        if self.dialled.is_empty() {
            // Some clients look for it before they are asked for a token.
            self.dialled = dialled(one).replace(WELL_KNOWN, "");
        }
        let mut wrong = Vec::new();
        self.issuer = first(&one.received, "authorization_servers");
        if self.issuer.is_none() {
            wrong.push("authorization_servers is missing: no server gives tokens".to_owned());
        }
        self.resource = member(&one.received, "resource");
        let Some(resource) = &self.resource else {
            wrong.push("resource is missing: clients refuse it".to_owned());
            return wrong;
        };
        let [said, server] = [resource, &self.server].map(|it| quote::text(it));
        let dialled = quote::text(self.dialled.trim_start_matches("http://"));
        if !covers(resource, &self.server) && !covers(resource, &self.dialled) {
            wrong.push(format!("resource is {said}, and the server is at {server}"));
        } else if !covers(resource, &self.dialled) {
            wrong.push(format!(
                "resource is {said}, and the client dials {dialled}: {REFUSES}"
            ));
        }
        wrong
    }

    fn server_metadata(&mut self, one: &FullExchange) -> Vec<String> {
        if one.http.status != Some(200) {
            return Vec::new();
        }
        let mut wrong = Vec::new();
        let issuer = member(&one.received, "issuer");
        match (&issuer, &self.issuer) {
            (None, _) => wrong.push("issuer is missing".to_owned()),
            // Clients compare the two as strings.
            (Some(said), Some(wanted)) if said != wanted => {
                let [said, wanted] = [said, wanted].map(|it| quote::text(it));
                wrong.push(format!("issuer is {said}, and was announced as {wanted}"));
            }
            _ => {}
        }
        let methods = all(&one.received, "code_challenge_methods_supported");
        if !methods.iter().any(|it| it == "S256") {
            wrong.push("S256 is not among code_challenge_methods_supported".to_owned());
        }
        wrong
    }

    fn token(&mut self, one: &FullExchange) -> Vec<String> {
        let mut wrong: Vec<_> = refusal(one).into_iter().collect();
        match (form(&one.sent, "resource"), &self.resource) {
            (None, Some(_)) => wrong.push("the request does not say the resource".to_owned()),
            (Some(said), Some(resource)) if place(&said) != place(resource) => {
                let [said, resource] = [&said, resource].map(|it| quote::text(it));
                wrong.push(format!(
                    "it is asked for {said}, and resource is {resource}"
                ));
            }
            _ => {}
        }
        if let (Some(wanted), Some(granted)) = (&self.scope, member(&one.received, "scope")) {
            let is_granted = |scope: &&str| granted.split(' ').any(|it| it == *scope);
            let missing: Vec<_> = wanted.split(' ').filter(|it| !is_granted(it)).collect();
            if !missing.is_empty() {
                let missing = quote::text(&missing.join(" "));
                wrong.push(format!("scope {missing} is wanted and not granted"));
            }
        }
        wrong
    }
}

/// The URL that a client dials for a request. Only authority and path of it are looked at.
fn dialled(one: &FullExchange) -> String {
    let host = header(one.http.request_head.as_deref(), "host").unwrap_or_default();
    let path = one.http.target.split('?').next().unwrap_or_default();
    format!("http://{host}{path}")
}

/// Why a request of OAuth was refused, in the words of the server.
fn refusal(one: &FullExchange) -> Option<String> {
    one.http.status.filter(|status| *status >= 400)?;
    let words = ["error", "error_description"].map(|name| member(&one.received, name));
    let words: Vec<_> = words.into_iter().flatten().collect();
    (!words.is_empty()).then(|| quote::text(&words.join(": ")))
}

fn header<'h>(head: Option<&'h Head>, name: &str) -> Option<&'h str> {
    head?.get(name)
}

/// A parameter of a challenge: `Bearer scope="a b", error=invalid_token`.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let is_name = |at: &usize| {
        let before = challenge[..*at].chars().next_back();
        before.is_none_or(|it| matches!(it, ' ' | ','))
    };
    let wanted = format!("{name}=");
    let mut places = challenge.match_indices(&wanted).map(|(at, _)| at);
    let value = &challenge[places.find(is_name)? + wanted.len()..];
    Some(match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?.to_owned(),
        None => value.split([',', ' ']).next()?.to_owned(),
    })
}

/// A member of a JSON object that is a string.
fn member(json: &[u8], name: &str) -> Option<String> {
    let document = Document::parse(json).ok()?;
    Some(document.root().get(name)?.as_str()?.into_owned()).filter(|text| !text.is_empty())
}

/// The strings in an array that is a member of a JSON object.
fn all(json: &[u8], name: &str) -> Vec<String> {
    let document = Document::parse(json).ok();
    let list = document.as_ref().and_then(|it| it.root().get(name));
    let elements = list.into_iter().flat_map(|it| it.elements());
    elements
        .filter_map(|it| Some(it.as_str()?.into_owned()))
        .collect()
}

fn first(json: &[u8], name: &str) -> Option<String> {
    all(json, name).into_iter().next()
}

/// A value in a form.
fn form(body: &[u8], name: &str) -> Option<String> {
    let pairs = body.split(|byte| *byte == b'&');
    let mut values =
        pairs.filter_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
    let value = percent_decoded(values.next()?);
    Some(String::from_utf8_lossy(&value).into_owned())
}

/// What two URLs have in common that name the same: authority and path.
fn place(url: &str) -> Option<(String, &str)> {
    let uri = Uri::parse(url).ok()?;
    let authority = uri.authority()?.as_str().to_ascii_lowercase();
    Some((authority, uri.path().as_str().trim_end_matches('/')))
}

/// Whether a client that dials `url` takes `resource` for its name: the same, or a path above it.
fn covers(resource: &str, url: &str) -> bool {
    let (Some((one, above)), Some((other, path))) = (place(resource), place(url)) else {
        return false;
    };
    let rest = path.strip_prefix(above);
    one == other && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
