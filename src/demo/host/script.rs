//! The story that the host plays, scene by scene.

use super::{Host, HostError, PROTOCOL_VERSION};
use serde_json::{Value, json};

const CALL: &str = "tools/call";

pub(super) fn play(host: &Host) -> Result<(), HostError> {
    shake_hands(host)?;
    look_around(host)?;
    ask_for_three_cities(host)?;
    wait_for_a_report(host)?;
    make_mistakes(host)?;
    plan_a_trip(host)?;
    load_the_archive(host)?;
    lose_patience(host)?;
    add_a_module(host)?;
    host.pace.pause(500);
    Ok(())
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

fn shake_hands(host: &Host) -> Result<(), HostError> {
    let params = json!({
        "protocolVersion": PROTOCOL_VERSION,
        "capabilities": {"elicitation": {"form": {}}, "sampling": {}},
        "clientInfo": {
            "name": "demo-host",
            "title": "mcpreel demo",
            "version": env!("CARGO_PKG_VERSION"),
        },
    });
    host.ask("initialize", &params)?;
    host.connection.notify("notifications/initialized", None)?;
    host.ask("logging/setLevel", &json!({"level": "info"}))?;
    Ok(())
}

fn look_around(host: &Host) -> Result<(), HostError> {
    host.pace.pause(300);
    let tools = host.begin("tools/list", &json!({}))?;
    let resources = host.begin("resources/list", &json!({}))?;
    Host::finish("tools/list", tools)?;
    Host::finish("resources/list", resources)?;
    host.pace.pause(400);
    host.ask(
        "resources/read",
        &json!({"uri": "weather://stations/bergen"}),
    )?;
    Ok(())
}

/// Three calls at once, answered in another order; the slowest one makes noise.
fn ask_for_three_cities(host: &Host) -> Result<(), HostError> {
    host.pace.pause(600);
    let mut pending = Vec::new();
    for city in ["Tromsø", "Bergen", "Oslo"] {
        let params = call("get_forecast", &json!({"city": city, "days": 3}));
        pending.push(host.begin(CALL, &params)?);
        host.pace.pause(20);
    }
    for pending in pending {
        Host::finish(CALL, pending)?;
    }
    Ok(())
}

/// A slow call with progress, and a quick one while it runs.
fn wait_for_a_report(host: &Host) -> Result<(), HostError> {
    host.pace.pause(700);
    let mut params = call("climate_report", &json!({"region": "Vestland"}));
    params["_meta"] = json!({"progressToken": "report-1"});
    let report = host.begin(CALL, &params)?;
    host.pace.pause(800);
    host.ask("ping", &json!({}))?;
    host.ask(CALL, &call("get_forecast", &json!({"city": "Stavanger"})))?;
    Host::finish(CALL, report)?;
    Ok(())
}

/// Two errors of tools, two of the protocol.
fn make_mistakes(host: &Host) -> Result<(), HostError> {
    host.pace.pause(600);
    host.ask(CALL, &call("get_forecast", &json!({"city": "Atlantis"})))?;
    host.pace.pause(300);
    host.ask(
        CALL,
        &call("get_forecast", &json!({"city": "Longyearbyen"})),
    )?;
    host.pace.pause(300);
    host.ask(CALL, &call("get_tides", &json!({"harbour": "Bergen"})))?;
    host.pace.pause(200);
    host.ask(
        "resources/read",
        &json!({"uri": "weather://stations/atlantis"}),
    )?;
    Ok(())
}

fn plan_a_trip(host: &Host) -> Result<(), HostError> {
    host.pace.pause(500);
    host.ask(CALL, &call("plan_trip", &json!({"city": "Bergen"})))?;
    Ok(())
}

fn load_the_archive(host: &Host) -> Result<(), HostError> {
    host.pace.pause(500);
    host.ask(CALL, &call("radar_archive", &json!({"date": "2026-11-19"})))?;
    Ok(())
}

/// A call that is cancelled, and never answered.
fn lose_patience(host: &Host) -> Result<(), HostError> {
    host.pace.pause(500);
    let watch = host.begin(CALL, &call("watch_storm", &json!({"sea": "Norwegian Sea"})))?;
    host.pace.pause(1300);
    let params = json!({"requestId": watch.id, "reason": "The user has lost patience."});
    host.connection
        .notify("notifications/cancelled", Some(&params))?;
    Ok(())
}

/// The tool that was unknown above becomes known.
fn add_a_module(host: &Host) -> Result<(), HostError> {
    host.pace.pause(500);
    host.ask(CALL, &call("enable_module", &json!({"module": "marine"})))?;
    host.wait_for_new_list();
    host.ask("tools/list", &json!({}))?;
    host.pace.pause(400);
    host.ask(CALL, &call("get_tides", &json!({"harbour": "Bergen"})))?;
    Ok(())
}
