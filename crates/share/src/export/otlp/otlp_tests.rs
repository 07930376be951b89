//! Read with the types that are made of the official protobuf definitions.

use super::*;
use crate::export::{Selection, exported};
use crate::written::Session;
use mcpreel_store::reader::Recording;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span, TracesData};
use std::path::Path;

const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const WALL: u64 = 1_795_000_001_000_000_000;

fn recorded(dir: &Path, session: impl FnOnce(&mut Session)) -> Recording {
    Recording::open(&crate::written::recorded(dir, session)).unwrap()
}

fn written(recording: &Recording, bodies: Bodies) -> String {
    let all = Selection::between(None, None);
    let file = exported(Excerpt::of(recording, &all), |export| write(export, bodies));
    String::from_utf8(file).unwrap()
}

fn parsed(file: &str) -> Vec<ResourceSpans> {
    let lines = file.lines().map(serde_json::from_str::<TracesData>);
    lines
        .flat_map(|line| line.unwrap().resource_spans)
        .collect()
}

/// The spans of a session, each with the name of the service that it is of.
fn spans(bodies: Bodies, session: impl FnOnce(&mut Session)) -> Vec<(String, Span)> {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path(), session);
    let resources = parsed(&written(&recording, bodies)).into_iter();
    let of = resources.flat_map(|resource| {
        let service = text(&resource.resource.unwrap().attributes, "service.name").unwrap();
        let [scope] = resource.scope_spans.try_into().unwrap();
        assert_eq!(scope.scope.unwrap().name, "mcpreel");
        let of_service = move |span| (service.clone(), span);
        scope.spans.into_iter().map(of_service).collect::<Vec<_>>()
    });
    of.collect()
}

fn named<'s>(spans: &'s [(String, Span)], name: &str) -> &'s Span {
    let found = spans.iter().find(|(_, span)| span.name == name);
    &found.unwrap_or_else(|| panic!("{name}: {spans:#?}")).1
}

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Value> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    found.value.as_ref()?.value.as_ref()
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    match value(attributes, key)? {
        Value::StringValue(text) => Some(text.clone()),
        other => panic!("{key}: {other:?}"),
    }
}

fn number(attributes: &[KeyValue], key: &str) -> Option<i64> {
    match value(attributes, key)? {
        Value::IntValue(number) => Some(*number),
        other => panic!("{key}: {other:?}"),
    }
}

fn said(session: &mut Session, t_us: u64, stream: StreamId, members: &str) {
    session.at(t_us * 1000);
    let line = format!("{{\"jsonrpc\":\"2.0\",{members}}}\n");
    session.chunk(stream, line.as_bytes());
}

/// A handshake, a call with progress during which the server asks, one that is traced and fails,
/// one that is cancelled, one that is lost.
fn story(session: &mut Session) {
    let (c2s, s2c) = (StreamId::C2S, StreamId::S2C);
    session.event(&EventKind::Spawned { pid: 7 });
    let lines = [
        (10, c2s, r#""id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}"#.to_owned()),
        (20, s2c, r#""id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"weather","version":"2"}}"#.to_owned()),
        (30, c2s, r#""method":"notifications/initialized""#.to_owned()),
        (40, c2s, r#""id":"two","method":"tools/call","params":{"name":"plan","arguments":{"pin":"S3CRET"},"_meta":{"progressToken":5}}"#.to_owned()),
        (50, s2c, r#""method":"notifications/progress","params":{"progressToken":5,"progress":1.5,"total":3}"#.to_owned()),
        (60, s2c, r#""id":1,"method":"elicitation/create","params":{"message":"?"}"#.to_owned()),
        (70, c2s, r#""id":1,"result":{"action":"accept"}"#.to_owned()),
        (80, s2c, r#""id":"two","result":{"content":[{"type":"text","text":"S3CRET too"}],"isError":true}"#.to_owned()),
        (90, c2s, format!(r#""id":3,"method":"resources/read","params":{{"uri":"file:///a","_meta":{{"traceparent":"{TRACEPARENT}"}}}}"#)),
        (95, s2c, r#""id":3,"error":{"code":-32002,"message":"no such thing"}"#.to_owned()),
        (100, c2s, r#""id":4,"method":"prompts/get","params":{"name":"p"}"#.to_owned()),
        (110, c2s, r#""method":"notifications/cancelled","params":{"requestId":4}"#.to_owned()),
        (120, c2s, r#""id":5,"method":"ping""#.to_owned()),
    ];
    for (t, stream, members) in lines {
        said(session, t, stream, &members);
    }
    session.at(200_000);
    session.end_with(EventKind::Exit {
        code: None,
        signal: Some("SIGSEGV".to_owned()),
        max_rss_bytes: 1,
        user_ns: 2,
        system_ns: 3,
    });
}

#[test]
fn a_request_is_a_span_of_whoever_asked_below_the_session() {
    let spans = spans(Bodies::Without, story);
    let session = named(&spans, "mcp.session");
    assert_eq!(session.kind, SpanKind::Internal as i32);
    assert!(session.parent_span_id.is_empty());
    assert_eq!((session.trace_id.len(), session.span_id.len()), (16, 8));
    assert_eq!(session.start_time_unix_nano, WALL);
    assert_eq!(session.status.as_ref().unwrap().code(), StatusCode::Error);
    assert_eq!(text(&session.attributes, "error.type").unwrap(), "SIGSEGV");
    assert_eq!(session.events.len(), 2, "started and ended");
    let call = named(&spans, "tools/call plan");
    assert_eq!(call.kind, SpanKind::Client as i32);
    assert_eq!(call.trace_id, session.trace_id);
    assert_eq!(call.parent_span_id, session.span_id);
    assert_eq!(call.start_time_unix_nano, WALL + 40_000);
    assert_eq!(call.end_time_unix_nano, WALL + 80_000);
    let of = |key| text(&call.attributes, key);
    assert_eq!(of("mcp.method.name").unwrap(), "tools/call");
    assert_eq!(of("gen_ai.operation.name").unwrap(), "execute_tool");
    assert_eq!(of("gen_ai.tool.name").unwrap(), "plan");
    assert_eq!(of("jsonrpc.request.id").unwrap(), "two");
    assert_eq!(of("mcp.protocol.version").unwrap(), "2025-11-25");
    assert_eq!(of("network.transport").unwrap(), "pipe");
    assert_eq!(of("error.type").unwrap(), "tool_error");
    assert_eq!(of("mcp.session.id"), None);
    assert_eq!(number(&call.attributes, "mcpreel.seq"), Some(4));
    assert_eq!(call.status.as_ref().unwrap().code(), StatusCode::Error);
    let ok = named(&spans, "initialize");
    assert_eq!(ok.status.as_ref().unwrap().code(), StatusCode::Unset);
    let whole = named(&spans, "notifications/initialized");
    assert_eq!(whole.start_time_unix_nano, whole.end_time_unix_nano);
}

#[test]
fn a_trace_that_a_request_belongs_to_is_gone_on_with() {
    let spans = spans(Bodies::Without, story);
    let session = named(&spans, "mcp.session");
    let read = named(&spans, "resources/read");
    assert_eq!(ids::hex(&read.trace_id), &TRACEPARENT[3..35]);
    assert_eq!(ids::hex(&read.parent_span_id), &TRACEPARENT[36..52]);
    assert_eq!(read.links.len(), 1);
    assert_eq!(read.links[0].span_id, session.span_id);
    let of = |key| text(&read.attributes, key);
    assert_eq!(of("mcp.resource.uri").unwrap(), "file:///a");
    assert_eq!(of("rpc.response.status_code").unwrap(), "-32002");
    assert_eq!(of("error.type").unwrap(), "-32002");
    let status = read.status.as_ref().unwrap();
    assert_eq!(
        (status.code(), &*status.message),
        (StatusCode::Error, "no such thing")
    );
}

#[test]
fn how_a_request_went_on_are_events_and_how_it_ended_is_said() {
    let spans = spans(Bodies::Without, story);
    let call = named(&spans, "tools/call plan");
    assert_eq!(call.events.len(), 1);
    assert_eq!(call.events[0].name, "progress");
    assert_eq!(call.events[0].time_unix_nano, WALL + 50_000);
    let method = text(&call.events[0].attributes, "mcp.method.name");
    assert_eq!(method.as_deref(), Some("notifications/progress"));
    let cancelled = named(&spans, "prompts/get p");
    assert_eq!(cancelled.events[0].name, "cancelled");
    assert_eq!(cancelled.end_time_unix_nano, WALL + 110_000);
    assert_eq!(text(&cancelled.attributes, "error.type"), None);
    assert_eq!(
        text(&cancelled.attributes, "mcpreel.status").unwrap(),
        "cancelled"
    );
    let lost = named(&spans, "ping");
    assert_eq!(text(&lost.attributes, "error.type").unwrap(), "lost");
    let message = &lost.status.as_ref().unwrap().message;
    assert_eq!(message, "the server was ended by SIGSEGV");
    assert_eq!(lost.end_time_unix_nano, WALL + 200_000);
}

#[test]
fn what_was_said_is_written_only_if_it_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path(), story);
    assert!(!written(&recording, Bodies::Without).contains("S3CRET"));
    let spans = spans(Bodies::With, story);
    let call = named(&spans, "tools/call plan");
    let arguments = text(&call.attributes, "gen_ai.tool.call.arguments");
    assert_eq!(arguments.unwrap(), r#"{"pin":"S3CRET"}"#);
    let result = text(&call.attributes, "gen_ai.tool.call.result").unwrap();
    assert!(result.contains("S3CRET too"), "{result}");
    let read = named(&spans, "resources/read");
    let params = text(&read.attributes, "mcpreel.request.params").unwrap();
    assert!(params.contains("file:///a"), "{params}");
}

#[test]
fn a_recording_has_the_same_trace_whenever_it_is_written_and_no_id_twice() {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path(), story);
    let file = written(&recording, Bodies::Without);
    assert_eq!(file, written(&recording, Bodies::Without));
    assert_eq!(
        file.lines().count(),
        1,
        "a short session can be posted as it is"
    );
    let spans = parsed(&file).into_iter().flat_map(|one| one.scope_spans);
    let ids: Vec<_> = spans
        .flat_map(|scope| scope.spans)
        .map(|span| span.span_id)
        .collect();
    let once: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), once.len());
    assert_eq!(ids.len(), 8);
}

/// It was the message of the failure once.
#[test]
fn what_a_task_was_created_with_is_no_reason_why_it_failed() {
    let spans = spans(Bodies::Without, |session| {
        let task = |status| {
            format!(
                r#"{{"taskId":"t","status":"{status}","createdAt":"x","lastUpdatedAt":"x","ttl":null}}"#
            )
        };
        said(
            session,
            1,
            StreamId::C2S,
            r#""id":1,"method":"tools/call","params":{"name":"build","task":{}}"#,
        );
        said(
            session,
            2,
            StreamId::S2C,
            &format!(r#""id":1,"result":{{"task":{}}}"#, task("working")),
        );
        said(
            session,
            3,
            StreamId::S2C,
            &format!(
                r#""method":"notifications/tasks/status","params":{}"#,
                task("failed")
            ),
        );
        session.end();
    });
    let status = named(&spans, "tools/call build").status.as_ref().unwrap();
    assert_eq!((status.code(), &*status.message), (StatusCode::Error, ""));
}

#[test]
fn hostile_text_stays_text_and_a_line_holds_so_many_spans() {
    let session = |session: &mut Session| {
        let evil =
            r#""id":1,"method":"\u0000\u202e\"}]}\n","params":{"_meta":{"traceparent":"00-x"}}"#;
        said(session, 1, StreamId::C2S, evil);
        for id in 2..1200 {
            said(
                session,
                id,
                StreamId::C2S,
                &format!(r#""id":{id},"method":"ping""#),
            );
        }
        session.end();
    };
    let dir = tempfile::tempdir().unwrap();
    let file = written(&recorded(dir.path(), session), Bodies::With);
    assert_eq!(file.lines().count(), 2);
    let spans = spans(Bodies::Without, session);
    assert_eq!(spans.len(), 1200);
    named(&spans, "\0\u{202e}\"}]}\n");
}
