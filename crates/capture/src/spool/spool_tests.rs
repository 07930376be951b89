use super::*;
use std::path::{Path, PathBuf};

fn spool() -> (tempfile::TempDir, PathBuf, Writer) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.spool");
    let writer = Writer::create(&path, 0x1234_5678, b"{}").unwrap();
    (dir, path, writer)
}

fn all(path: &Path, end: u64) -> Vec<(RecordHead, Vec<u8>)> {
    let mut reader = SpoolReader::open(path).unwrap();
    let mut records = Vec::new();
    let mut payload = Vec::new();
    let mut position = reader.first_position();
    while let Some(head) = reader.read(position, end, &mut payload).unwrap() {
        records.push((head, payload.clone()));
        position = head.end();
    }
    records
}

#[test]
fn records_come_back_as_they_were_written() {
    let (_dir, path, mut writer) = spool();
    let big = vec![7; 300_000];
    for (n, payload) in [&b"one"[..], b"", &big, b"\0\xff\n"]
        .into_iter()
        .enumerate()
    {
        let t = Moment(n as u64);
        writer
            .append(RecordKind::Chunk, StreamId::S2C, t, 10 * n as u64, payload)
            .unwrap();
    }
    let records = all(&path, u64::MAX);
    assert_eq!(records.len(), 5);
    assert_eq!(records[0].0.kind, RecordKind::Event);
    assert_eq!(records[3].1, big);
    assert_eq!(records[4].0.offset, 30);
    assert_eq!(records[4].1, b"\0\xff\n");
    assert_eq!(records[4].0.end(), writer.end());
}

#[test]
fn a_reader_stops_where_it_is_told_that_the_file_is_written() {
    let (_dir, path, mut writer) = spool();
    writer
        .append(RecordKind::Chunk, StreamId::C2S, Moment(1), 0, b"one")
        .unwrap();
    let end = writer.end();
    writer
        .append(RecordKind::Chunk, StreamId::C2S, Moment(2), 3, b"two")
        .unwrap();
    assert_eq!(all(&path, end).len(), 2);
    assert_eq!(all(&path, end + 5).len(), 2);
}

#[test]
fn a_torn_tail_ends_the_spool_without_an_error() {
    let (_dir, path, mut writer) = spool();
    writer
        .append(RecordKind::Chunk, StreamId::C2S, Moment(1), 0, b"whole")
        .unwrap();
    writer
        .append(RecordKind::Chunk, StreamId::C2S, Moment(2), 5, b"torn off")
        .unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(writer.end() - 3).unwrap();
    assert_eq!(all(&path, u64::MAX).len(), 2);
}

#[test]
fn a_changed_byte_is_noticed() {
    let (_dir, path, mut writer) = spool();
    writer
        .append(RecordKind::Chunk, StreamId::C2S, Moment(1), 0, b"payload")
        .unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(all(&path, u64::MAX).len(), 1);
}

/// Three chunks, and where each begins.
fn three(writer: &mut Writer, first: &[u8]) -> [u64; 3] {
    [first, b"two", b"three"].map(|payload| {
        let position = writer.end();
        writer
            .append(RecordKind::Chunk, StreamId::S2C, Moment(1), 0, payload)
            .unwrap();
        position
    })
}

fn flip(path: &Path, at: u64) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[usize::try_from(at).unwrap()] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_byte_costs_one_record() {
    // Every field of the header, and the payload.
    for at in [0, 4, 8, 10, 11, 12, 13, 14, 16, 24, 32] {
        let (_dir, path, mut writer) = spool();
        let [one, two, three] = three(&mut writer, b"one");
        let end = writer.end();
        drop(writer);
        flip(&path, one + at);
        for end in [u64::MAX, end] {
            let records = all(&path, end);
            let positions: Vec<_> = records.iter().map(|(head, _)| head.position).collect();
            let first = STATUS_SIZE as u64;
            assert_eq!(positions, [first, two, three], "byte {at}, end {end}");
        }
    }
}

#[test]
fn a_record_within_a_damaged_one_is_not_taken_for_one() {
    let (_dir, path, mut writer) = spool();
    let own = std::fs::read(&path).unwrap();
    let [one, two, _] = three(&mut writer, &own);
    flip(&path, one + 40);
    let records = all(&path, u64::MAX);
    assert_eq!((records.len(), records[1].0.position), (3, two));
}

#[test]
fn records_after_a_hole_are_found() {
    let (_dir, path, mut writer) = spool();
    let [one, two, _] = three(&mut writer, &vec![7; 1_000_000]);
    let reader = SpoolReader::open(&path).unwrap();
    reader.punch(one, two);
    let positions: Vec<_> = all(&path, u64::MAX)
        .iter()
        .map(|(head, _)| head.position)
        .collect();
    assert_eq!(positions[1], two);
    assert_eq!(positions.len(), 3);
}

#[test]
fn neither_a_damaged_status_nor_a_damaged_start_makes_a_spool_unreadable() {
    for at in [0, 22, STATUS_SIZE as u64, STATUS_SIZE as u64 + 20] {
        let (_dir, path, mut writer) = spool();
        three(&mut writer, b"one");
        flip(&path, at);
        let records = all(&path, u64::MAX);
        assert_eq!(records.last().unwrap().1, b"three", "byte {at}");
        let reader = SpoolReader::open(&path).unwrap();
        assert_eq!(reader.is_status_damaged().unwrap(), at == 0);
        assert_eq!(reader.status().unwrap().forwarded, [0; 3]);
    }
}

#[test]
fn a_payload_that_looks_like_a_record_is_not_taken_for_one() {
    let (_dir, path, mut writer) = spool();
    let (_other, other_path, _other_writer) = spool();
    let foreign = std::fs::read(other_path).unwrap();
    writer
        .append(RecordKind::Chunk, StreamId::C2S, Moment(1), 0, &foreign)
        .unwrap();
    assert_eq!(all(&path, u64::MAX)[1].1, foreign);
}

#[test]
fn the_lock_says_whether_the_recorder_lives() {
    let (_dir, path, writer) = spool();
    assert!(matches!(lock(&path), Err(LockError::Held)));
    drop(writer);
    let held = lock(&path).unwrap();
    assert!(matches!(lock(&path), Err(LockError::Held)));
    drop(held);
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(lock(&path), Err(LockError::Missing)));
}

#[test]
fn the_status_is_overwritten_in_place() {
    let (_dir, path, writer) = spool();
    let len = std::fs::metadata(&path).unwrap().len();
    let status = Status {
        forwarded: [1, u64::MAX, 3],
        gap: Some("no space left on device".into()),
        ..Status::default()
    };
    writer.write_status(&status).unwrap();
    let read = SpoolReader::open(&path).unwrap().status().unwrap();
    assert_eq!((read.forwarded, read.gap), (status.forwarded, status.gap));
    assert_eq!(read.magic, 0x1234_5678);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), len);
}

#[test]
fn what_is_no_spool_is_said_to_be_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.spool");
    for content in [&b""[..], b"short", &[0; 5000]] {
        std::fs::write(&path, content).unwrap();
        assert!(matches!(
            SpoolReader::open(&path),
            Err(SpoolError::NotASpool { .. })
        ));
    }
}
