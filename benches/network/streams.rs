//! Streams of events.

use crate::Setup;
use crate::calls::{compare, times_relay};
use crate::peers;
use crate::support::recorder_table::Row;
use crate::support::stats::{median, quantile};
use crate::way::{Arm, Connection, Way};
use mcpreel_trace::clock::{Clock, Moment, wall_clock_ns};

/// Events of 1 KB, as many as the server can write, one stream.
pub fn rate(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let (blocks, events) = setup.amount((10, 100_000), (4, 20_000));
    let relay = Way::open(Arm::Relay, setup)?;
    let proxy = Way::open(Arm::Proxy, setup)?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..blocks {
        without.push(per_second(relay.connect()?, events)?);
        with.push(per_second(proxy.connect()?, events)?);
        proxy.wait_until_quiet()?;
    }
    let (ratio, rate) = compare(&without, &with, "events/s");
    let what = "events of 1 KB, one stream";
    Ok(vec![Row::at_least(what, 0.6, ratio, times_relay).and(rate)])
}

fn per_second(mut connection: Connection, events: usize) -> anyhow::Result<f64> {
    let event = peers::event(0).len();
    let clock = Clock::start();
    connection.open_stream(events, 0)?;
    connection.receive(events * event)?;
    #[expect(clippy::cast_precision_loss, reason = "some thousands")]
    Ok(events as f64 / clock.now().since(Moment(0)).as_secs_f64())
}

/// From the server's write to the client's read, at 1,000 events per second.
pub fn delay(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let events = setup.amount(10_000, 2_000);
    let [relay, proxy] = [Arm::Relay, Arm::Proxy].map(|arm| -> anyhow::Result<_> {
        let way = Way::open(arm, setup)?;
        let mut connection = way.connect()?;
        connection.open_stream(events, 1_000)?;
        let length = peers::event(0).len();
        let mut samples = Vec::with_capacity(events);
        for _ in 0..events {
            let sent = peers::sent_ns(connection.receive_few(length)?)?;
            #[expect(clippy::cast_precision_loss, reason = "some microseconds")]
            samples.push(wall_clock_ns().saturating_sub(sent) as f64 / 1e6);
        }
        Ok([median(&samples), quantile(&samples, 0.99)])
    });
    let ([_, relay], [p50, p99]) = (relay?, proxy?);
    let show = |ms| format!("{ms:.2} ms");
    let what = "event to client at 1,000/s, p99";
    let note = format!("p50 {p50:.2} ms; p99 of the relay {relay:.2} ms");
    Ok(vec![Row::at_most(what, 1.0, p99, show).and(note)])
}
