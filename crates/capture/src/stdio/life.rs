//! When a session is over: a decision from a few facts, without I/O.
//!
//! | situation | what happens |
//! |---|---|
//! | the server lives | wait, whatever the streams do |
//! | it has ended, and so have its outputs | over |
//! | it has ended, somebody else holds its outputs, the host is still there | relay on (a launcher that forks and exits) |
//! | the same, but the host has closed our stdin or sent a signal, or nobody reads it any more | until 1 s of quiet, 3 s at most |
//! | bytes that were read are not delivered yet | wait as the kernel would; after a signal 3 s at most |
//! | they had been hanging and are delivered now | the second of quiet and the three in all begin anew: what the server had left in its pipe comes next |

use crate::gauge::Gauge;
use crate::stdio::Gauges;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::StreamId;
use std::time::Duration;

/// Survivors that say nothing for this long are left alone.
const QUIET: Duration = Duration::from_secs(1);

/// However much survivors say: clients send SIGTERM 2 to 3 s after closing stdin.
const AT_MOST: Duration = Duration::from_secs(3);

/// Pipes that are open this long after the server's end are held by somebody else.
const SURVIVORS_AFTER: Duration = Duration::from_millis(20);

/// A pump between reading and writing is there for microseconds; longer means that it is blocked
/// in a read that somebody else was faster at, and holds nothing.
const BETWEEN: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub struct Facts {
    exited: Option<Moment>,
    /// Since when the host has closed our stdin, or nobody reads the server's.
    stdin_ended: Option<Moment>,
    signalled: Option<Moment>,
    stdout_ended: bool,
    stderr_ended: bool,
    last_read: Moment,
    resumed: Moment,
    undelivered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Wait for notices, and look again at that time.
    Wait(Option<Moment>),
    End,
}

impl Facts {
    /// At the start; `merged`: there is no stderr of its own.
    pub fn new(merged: bool) -> Self {
        Self {
            exited: None,
            stdin_ended: None,
            signalled: None,
            stdout_ended: false,
            stderr_ended: merged,
            last_read: Moment(0),
            resumed: Moment(0),
            undelivered: false,
        }
    }

    pub fn server_ended(&mut self, now: Moment) {
        self.exited = Some(now);
    }

    /// Whether the server has not been reaped.
    pub fn server_lives(&self) -> bool {
        self.exited.is_none()
    }

    pub fn signalled(&mut self, now: Moment) {
        self.signalled.get_or_insert(now);
    }

    pub fn pump_ended(&mut self, stream: StreamId, now: Moment) {
        match stream {
            StreamId::C2S => self.stdin_ended = Some(now),
            StreamId::S2C => self.stdout_ended = true,
            _ => self.stderr_ended = true,
        }
    }

    /// Whether the server's stdout and stderr have ended.
    pub fn outputs_ended(&self) -> bool {
        self.stdout_ended && self.stderr_ended
    }

    /// What the pumps of the outputs are doing.
    pub fn observe(&mut self, gauges: &Gauges) {
        let outputs = &gauges[1..];
        self.last_read = outputs
            .iter()
            .map(|g| g.last_read())
            .max()
            .unwrap_or_default();
        self.undelivered = outputs.iter().any(|g| g.pending() > 0);
        self.resumed = outputs
            .iter()
            .map(|g| g.resumed())
            .max()
            .unwrap_or_default();
    }

    /// Whether the session is over at `now`.
    pub fn verdict(&self, now: Moment) -> Verdict {
        let Some(exited) = self.exited else {
            return Verdict::Wait(None);
        };
        if self.outputs_ended() {
            return Verdict::End;
        }
        let look_for_survivors = Some(exited + SURVIVORS_AFTER).filter(|at| *at > now);
        let Some(told) = self.stdin_ended.into_iter().chain(self.signalled).min() else {
            return Verdict::Wait(look_for_survivors);
        };
        let began = told.max(exited).max(self.resumed);
        let over = (began.max(self.last_read) + QUIET).min(began + AT_MOST);
        let out_of_patience = self
            .signalled
            .is_some_and(|at| now >= at.max(exited) + AT_MOST);
        match now >= over {
            true if !self.undelivered || out_of_patience => Verdict::End,
            true => Verdict::Wait(Some(now + Duration::from_millis(20))),
            false => Verdict::Wait(look_for_survivors.or(Some(over))),
        }
    }

    /// Whether the end, which began to be waited for at `began`, still has to wait for `gauge`.
    pub fn waits_for(&self, gauge: &Gauge, began: Moment, now: Moment) -> bool {
        let waited = now.since(began);
        match (gauge.is_busy(), gauge.pending()) {
            (false, _) => false,
            (true, 0) => waited < BETWEEN,
            // Nobody but survivors can still read the server's stdin.
            (true, _) if gauge.stream() == StreamId::C2S => waited < QUIET,
            (true, _) => self
                .signalled
                .is_none_or(|at| now < at.max(began) + AT_MOST),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment(ms * 1_000_000)
    }

    #[test]
    fn a_living_server_is_waited_for_whatever_the_streams_do() {
        let mut facts = Facts::new(false);
        for stream in StreamId::STDIO {
            facts.pump_ended(stream, at(1));
        }
        facts.signalled(at(2));
        assert_eq!(facts.verdict(at(3_600_000)), Verdict::Wait(None));
    }

    #[test]
    fn the_session_is_over_when_the_server_and_its_outputs_have_ended() {
        let mut facts = Facts::new(false);
        facts.server_ended(at(10));
        facts.pump_ended(StreamId::S2C, at(11));
        assert_ne!(facts.verdict(at(12)), Verdict::End);
        facts.pump_ended(StreamId::STDERR, at(12));
        assert_eq!(facts.verdict(at(12)), Verdict::End);
    }

    #[test]
    fn survivors_are_relayed_as_long_as_the_host_keeps_our_stdin_open() {
        let mut facts = Facts::new(true);
        facts.server_ended(at(10));
        assert_eq!(facts.verdict(at(10)), Verdict::Wait(Some(at(30))));
        assert_eq!(facts.verdict(at(100_000)), Verdict::Wait(None));
    }

    #[test]
    fn after_the_hosts_end_of_file_survivors_have_a_second_of_quiet_and_three_in_all() {
        let mut facts = Facts::new(true);
        facts.server_ended(at(0));
        facts.pump_ended(StreamId::C2S, at(1_000));
        assert_eq!(facts.verdict(at(1_999)), Verdict::Wait(Some(at(2_000))));
        assert_eq!(facts.verdict(at(2_000)), Verdict::End);
        facts.last_read = at(1_900);
        assert_eq!(facts.verdict(at(2_000)), Verdict::Wait(Some(at(2_900))));
        facts.last_read = at(3_900);
        assert_eq!(facts.verdict(at(4_000)), Verdict::End);
    }

    #[test]
    fn what_was_left_in_the_pipe_behind_a_hanging_write_has_time_to_follow() {
        let mut facts = Facts::new(true);
        facts.server_ended(at(0));
        facts.pump_ended(StreamId::C2S, at(0));
        facts.undelivered = true;
        assert_ne!(facts.verdict(at(60_000)), Verdict::End);
        (facts.undelivered, facts.resumed) = (false, at(60_000));
        assert_eq!(facts.verdict(at(60_000)), Verdict::Wait(Some(at(61_000))));
        assert_eq!(facts.verdict(at(61_000)), Verdict::End);
    }

    #[test]
    fn undelivered_output_is_waited_for_until_a_signal_makes_it_three_seconds() {
        let mut facts = Facts::new(true);
        facts.server_ended(at(0));
        facts.pump_ended(StreamId::C2S, at(0));
        facts.undelivered = true;
        assert_ne!(facts.verdict(at(3_600_000)), Verdict::End);
        facts.signalled(at(3_600_000));
        assert_ne!(facts.verdict(at(3_602_999)), Verdict::End);
        assert_eq!(facts.verdict(at(3_603_000)), Verdict::End);
    }
}
