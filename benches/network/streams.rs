//! Streams of events.

use crate::Setup;
use crate::calls::{compare, times_relay};
use crate::peers;
use crate::support::recorder_table::Row;
use crate::support::stats::{median, quantile};
use crate::way::{Arm, Connection, Way};
use flate2::write::GzDecoder;
use mcpreel_trace::clock::{Clock, Moment, wall_clock_ns};
use std::io::Write as _;

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

/// From the server's write to the client's read: events that come fast, and some as they come in a
/// conversation, plain and compressed.
pub fn delay(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let fast = setup.amount(10_000, 2_000);
    let slow = setup.amount(100, 20);
    Ok(vec![
        delay_of("1,000/s", setup, |way| plain_delays(way, fast, 1_000))?,
        delay_of("10/s", setup, |way| plain_delays(way, slow, 100_000))?,
        delay_of("10/s, compressed", setup, |way| {
            compressed_delays(way, slow, 100_000)
        })?,
    ])
}

fn delay_of(
    rate: &str,
    setup: &Setup,
    delays: impl Fn(&Way) -> anyhow::Result<Vec<f64>>,
) -> anyhow::Result<Row> {
    let [relay, proxy] = [Arm::Relay, Arm::Proxy].map(|arm| -> anyhow::Result<_> {
        let samples = delays(&Way::open(arm, setup)?)?;
        Ok([median(&samples), quantile(&samples, 0.99)])
    });
    let ([_, relay], [p50, p99]) = (relay?, proxy?);
    let show = |ms| format!("{ms:.2} ms");
    let what = format!("event to client at {rate}, p99");
    let note = format!("p50 {p50:.2} ms; p99 of the relay {relay:.2} ms");
    Ok(Row::at_most(what, 1.0, p99, show).and(note))
}

fn plain_delays(way: &Way, events: usize, us: u64) -> anyhow::Result<Vec<f64>> {
    let mut connection = way.connect()?;
    connection.open_stream(events, us)?;
    let length = peers::event(0).len();
    let delays = (0..events).map(|_| delay_ms(connection.receive_few(length)?));
    delays.collect()
}

fn compressed_delays(way: &Way, events: usize, us: u64) -> anyhow::Result<Vec<f64>> {
    let mut connection = way.connect()?;
    connection.open_compressed_stream(events, us)?;
    let mut plain = GzDecoder::new(Vec::new());
    let delays = (0..events).map(|_| {
        plain.write_all(connection.receive_chunk()?)?;
        plain.flush()?;
        delay_ms(&std::mem::take(plain.get_mut()))
    });
    delays.collect()
}

/// How long ago the event in these bytes was sent.
fn delay_ms(event: &[u8]) -> anyhow::Result<f64> {
    let sent = peers::sent_ns(event)?;
    #[expect(clippy::cast_precision_loss, reason = "some microseconds")]
    Ok(wall_clock_ns().saturating_sub(sent) as f64 / 1e6)
}
