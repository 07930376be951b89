//! What is known of the HTTP of a recording.

use crate::authorization::Step;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::http::HttpExchange;
use mcpreel_wire::text::{cut, escape};

/// Columns of what is quoted.
const QUOTED: usize = 200;

/// Facts of HTTP; empty over stdio.
#[derive(Clone, Debug, Default)]
pub struct Https {
    /// The first and the last exchanges that were answered with an error status, or redirected, with
    /// their heads.
    pub refused: Vec<HttpExchange>,
    /// The first and the last whose responses were cut off, with their heads.
    pub cut: Vec<HttpExchange>,
    /// The first calls whose responses came to their ends without the answers, with these,
    /// [`Self::ANSWERLESS`] at most.
    pub answerless: Vec<(Exchange, HttpExchange)>,
    /// What the bodies of the refused say, by the number of the exchange; not escaped.
    pub said: Vec<(u32, Box<str>)>,
    /// The first and the last without a message in their requests; preflights with their heads.
    pub alone: Vec<HttpExchange>,
    /// The first streams of events that named an endpoint (2024-11-05), with their heads, and its URL.
    pub endpoints: Vec<(HttpExchange, Box<str>)>,
    /// The HTTP exchanges of [`super::Facts::opening`], with their heads.
    pub opening: Vec<HttpExchange>,
    /// Calls with more than one progress notification among the last exchanges, each with its HTTP exchange
    /// and heads.
    pub with_progress: Vec<(Exchange, HttpExchange)>,
    /// The steps of logging in, if a token was wanted.
    pub authorization: Vec<Step>,
    /// The last exchange that was answered with success and had a message in its request.
    pub last_served: u32,
    /// When the request of that exchange came.
    pub t_last_served: Moment,
    /// The last that carried an `initialize` that was answered with a result.
    pub last_initialize: u32,
}

impl Https {
    pub const ANSWERLESS: usize = 16;

    /// What the body of a refusal says, not escaped; empty if it says nothing.
    pub fn said(&self, http: u32) -> &str {
        let said = self.said.iter().find(|(id, _)| *id == http);
        said.map_or("", |(_, said)| said)
    }

    /// `; it says: Invalid Host header`, if the body of a refusal says something; escaped.
    pub fn says(&self, http: u32) -> String {
        match self.said(http) {
            "" => String::new(),
            said => format!("; it says: {}", cut(&escape(said), QUOTED)),
        }
    }
}
