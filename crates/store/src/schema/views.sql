-- For people with sqlite3. Times are milliseconds since t = 0, bodies are text.

-- A request with its response.
CREATE VIEW v_exchange AS
SELECT e.request, e.response, e.direction, e.era, e.method, e.name, e.rpc_id, e.status, e.code,
       e.t_request / 1e6 AS t_ms,
       e.latency / 1e6 AS latency_ms,
       e.waited / 1e6 AS waited_ms,
       CAST(substr(qf.raw, q.start + 1, q.size) AS TEXT) AS request_body,
       CAST(substr(pf.raw, p.start + 1, p.size) AS TEXT) AS response_body
FROM exchange e
JOIN message q ON q.frame = e.request AND q.part = e.request_part
JOIN frame qf ON qf.seq = e.request
LEFT JOIN message p ON p.frame = e.response AND p.part = e.response_part
LEFT JOIN frame pf ON pf.seq = e.response
ORDER BY e.id;

-- A message with its body and the request of its exchange.
CREATE VIEW v_message AS
SELECT m.frame AS seq, m.part, s.label AS stream, f.t_last / 1e6 AS t_ms,
       m.kind, coalesce(m.method, e.method) AS method,
       CASE WHEN m.method IS NULL THEN e.name ELSE m.name END AS name, m.rpc_id, m.code, e.request,
       CAST(substr(f.raw, m.start + 1, m.size) AS TEXT) AS body
FROM message m
JOIN frame f ON f.seq = m.frame
JOIN stream s ON s.id = f.stream
LEFT JOIN exchange e ON e.id = m.exchange
ORDER BY m.frame, m.part;

-- All that happened, in order: frames and events.
CREATE VIEW v_timeline AS
SELECT t_ms, seq, what, body FROM (
    SELECT f.t_last / 1e6 AS t_ms, f.seq AS seq, 0 AS nth, s.label AS what,
           CAST(f.raw AS TEXT) AS body
    FROM frame f JOIN stream s ON s.id = f.stream
    UNION ALL
    SELECT e.t / 1e6, e.after_seq, e.id, e.kind, e.detail FROM event e
)
ORDER BY seq, nth;
