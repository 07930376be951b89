//! Latency is the time that the server took: not ours, not that of the transfer.

use crate::support::host_session::Session;
use crate::support::pieces::Pieces;
use crate::support::{Library, peer, wait_for};
use serde_json::Value;
use std::collections::HashMap;

const MS: u64 = 1_000_000;

/// What the promise allows beside what the kernel takes to run everybody.
const ALLOWED: u64 = MS;

/// A call that took no more than this too long may have waited for a processor.
const NOISE: u64 = 60 * MS;

/// What came of a session: exchanges of the recording, and the nanoseconds that the server
/// measured, both by id.
struct Measured {
    exchanges: HashMap<u64, Value>,
    slept: HashMap<u64, u64>,
}

/// A session with the peer `sleeper` in which `host` says what is sent.
fn session(host: impl FnOnce(&Session)) -> Measured {
    let library = Library::new();
    let session = Session::start(&mut library.run([peer().into_os_string(), "sleeper".into()]));
    host(&session);
    let received = session.end();
    assert!(received.status.success());
    let by_id = |value: Value| Some((value["id"].as_u64()?, value));
    let exchanges = library.json(&["show", "@", "--exchanges"]);
    let answers = received
        .out
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let answers = answers.map(|line| serde_json::from_slice(line).expect("the server writes JSON"));
    let slept = |answer: Value| {
        Some((
            answer["id"].as_u64()?,
            answer["result"]["slept_ns"].as_u64()?,
        ))
    };
    Measured {
        exchanges: exchanges.into_iter().filter_map(by_id).collect(),
        slept: answers.filter_map(slept).collect(),
    }
}

fn call(method: &str, id: u64, ms: u64) -> Vec<u8> {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{\"ms\":{ms}}}}}\n"
    )
    .into_bytes()
}

/// Sends a call and waits for its answer: time in which a call waits for the server to read it is
/// not of interest here.
fn ask(host: &Session, id: u64, call: Vec<u8>) {
    host.send(&Pieces(vec![call]));
    let answer = format!("\"id\":{id},");
    wait_for("the answer", || {
        host.out.contains(answer.as_bytes()).then_some(())
    });
}

impl Measured {
    /// Fails unless every latency is at least what the server measured, and hardly more.
    /// Scheduling can only add, and not to all of them: what the recorder itself added would be in
    /// each.
    fn assert_true(&self, ids: impl Iterator<Item = u64>) {
        let mut added: Vec<u64> = ids.map(|id| self.added_to(id)).collect();
        added.sort_unstable();
        let (least, most) = (added[0], added[added.len() - 1]);
        crate::support::note(format_args!(
            "added: {least} to {most} ns, median {}",
            added[added.len() / 2]
        ));
        assert!(added[0] <= ALLOWED, "each takes too long: {added:?}");
        assert!(
            added[added.len() / 2] <= NOISE,
            "most take too long: {added:?}"
        );
    }

    fn added_to(&self, id: u64) -> u64 {
        let latency = self.exchanges[&id]["latency_ns"]
            .as_u64()
            .expect("it was answered");
        latency
            .checked_sub(self.slept[&id])
            .expect("no call is faster than the server")
    }
}

#[test]
fn a_call_takes_as_long_as_the_server_slept() {
    let measured = session(|host| (1..=20).for_each(|id| ask(host, id, call("sleep", id, 40))));
    assert_eq!(measured.exchanges.len(), 20);
    for exchange in measured.exchanges.values() {
        assert!(exchange["latency_ns"].as_u64().expect("it was answered") >= 40 * MS);
    }
    measured.assert_true(1..=20);
}

#[test]
fn a_call_takes_as_long_as_the_server_slept_under_load_of_others() {
    let measured = session(|host| {
        for id in 1..=20 {
            host.send(&Pieces(vec![call("sleep", id, 40)]));
            for other in 0..20 {
                let other = 1000 * id + other;
                ask(host, other, call("ping", other, 0));
            }
        }
    });
    assert_eq!(measured.exchanges.len(), 20 + 20 * 20);
    measured.assert_true(1..=20);
    measured.assert_true((1..=20).flat_map(|id| 1000 * id..1000 * id + 20));
}

#[test]
fn the_time_of_the_transfer_is_not_the_servers() {
    // The request comes in two pieces with pauses, the answer with one of 40 ms in its middle.
    let calls = (1..=10).flat_map(|id| {
        let line = call("drawl", id, 40);
        let (first, rest) = line.split_at(15);
        [
            vec![first.to_vec()],
            vec![Vec::new(); 50],
            vec![rest.to_vec()],
        ]
        .concat()
    });
    let measured = session(|host| host.send(&Pieces(calls.collect())));
    assert_eq!(measured.exchanges.len(), 10);
    measured.assert_true(1..=10);
}
