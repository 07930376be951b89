//! What the server offers: tools and resources.

use serde_json::{Value, json};

/// The tools, with those of the marine module where it is on.
pub fn tools(marine: bool) -> Vec<Value> {
    let mut tools = vec![
        forecast(),
        climate_report(),
        plan_trip(),
        json!({
            "name": "radar_archive",
            "title": "Radar archive",
            "description": "All radar echoes of one day, as CSV.",
            "inputSchema": object(&json!({"date": {"type": "string", "format": "date"}}), &["date"]),
            "annotations": {"readOnlyHint": true},
        }),
        json!({
            "name": "watch_storm",
            "title": "Watch for a storm",
            "description": "Waits until a storm forms over a sea, for hours if need be.",
            "inputSchema": object(&json!({"sea": {"type": "string"}}), &["sea"]),
            "annotations": {"readOnlyHint": true},
        }),
        json!({
            "name": "enable_module",
            "title": "Enable a module",
            "description": "Adds the tools of a module. Known: marine.",
            "inputSchema": object(&json!({"module": {"enum": ["marine"]}}), &["module"]),
            "annotations": {"idempotentHint": true, "destructiveHint": false},
        }),
    ];
    if marine {
        tools.push(json!({
            "name": "get_tides",
            "title": "Tides",
            "description": "High and low water of a harbour, today.",
            "inputSchema": object(&json!({"harbour": {"type": "string"}}), &["harbour"]),
            "annotations": {"readOnlyHint": true},
        }));
    }
    tools
}

fn forecast() -> Value {
    let day = object(
        &json!({
            "day": {"type": "string"},
            "sky": {"type": "string"},
            "low": {"type": "integer", "description": "°C"},
            "high": {"type": "integer", "description": "°C"},
            "wind": {"type": "integer", "description": "m/s"},
        }),
        &["day", "sky", "low", "high"],
    );
    json!({
        "name": "get_forecast",
        "title": "Forecast",
        "description": "The weather of the next days in a city.",
        "inputSchema": object(
            &json!({
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 3},
            }),
            &["city"],
        ),
        "outputSchema": object(&json!({"days": {"type": "array", "items": day}}), &["days"]),
        "annotations": {"readOnlyHint": true, "openWorldHint": true},
    })
}

fn climate_report() -> Value {
    json!({
        "name": "climate_report",
        "title": "Climate report",
        "description": "Thirty years of observations of a region in a few sentences. Slow.",
        "inputSchema": object(&json!({"region": {"type": "string"}}), &["region"]),
        "annotations": {"readOnlyHint": true},
    })
}

fn plan_trip() -> Value {
    json!({
        "name": "plan_trip",
        "title": "Plan a trip",
        "description": "Asks what the traveller wants, then suggests what to pack.",
        "inputSchema": object(&json!({"city": {"type": "string"}}), &["city"]),
        "annotations": {"readOnlyHint": true, "openWorldHint": true},
    })
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

pub fn resources() -> Value {
    json!([
        {
            "uri": "weather://stations/bergen",
            "name": "bergen",
            "title": "Station Bergen Florida",
            "mimeType": "text/markdown",
        },
        {
            "uri": "weather://stations/tromso",
            "name": "tromso",
            "title": "Station Tromsø Holt",
            "mimeType": "text/markdown",
        },
    ])
}

/// The text of a resource; `None` if there is none with this URI.
pub fn resource(uri: &str) -> Option<&'static str> {
    match uri {
        "weather://stations/bergen" => Some(
            "# Bergen Florida\n\n12 m above the sea, observing since 1949.\n\
             It rains on 239 days of the year: bring a coat.\n",
        ),
        "weather://stations/tromso" => Some(
            "# Tromsø Holt\n\n20 m above the sea, observing since 1987.\n\
             No sunrise from 27 November to 15 January.\n",
        ),
        _ => None,
    }
}
