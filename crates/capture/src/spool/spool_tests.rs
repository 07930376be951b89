use super::*;
use std::path::{Path, PathBuf};

fn spool() -> (tempfile::TempDir, PathBuf, Writer) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.spool");
    let writer = Writer::create(&path, 0x1234_5678, b"{}").unwrap();
    (dir, path, writer)
}

fn all(path: &Path) -> Vec<(RecordHead, Vec<u8>)> {
    all_of(path, Tail::Final)
}

fn all_of(path: &Path, tail: Tail) -> Vec<(RecordHead, Vec<u8>)> {
    let mut reader = SpoolReader::open(path).unwrap();
    let mut records = Vec::new();
    let mut payload = Vec::new();
    let mut position = reader.first_position();
    while let Some(head) = reader.read(position, tail, &mut payload).unwrap() {
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
    let records = all(&path);
    assert_eq!(records.len(), 5);
    assert_eq!(records[0].0.kind, RecordKind::Event);
    assert_eq!(records[3].1, big);
    assert!(writer.end() > FIRST + 300_000);
    assert_eq!(records[4].0.offset, 30);
    assert_eq!(records[4].1, b"\0\xff\n");
    assert_eq!(records[4].0.end(), writer.end());
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
    file.set_len(in_file(writer.end()) - 3).unwrap();
    assert_eq!(all(&path).len(), 2);
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
    assert_eq!(all(&path).len(), 1);
}

/// Where in the file a position of the first segment stands, which is the first in the file.
fn in_file(position: u64) -> u64 {
    position + SEGMENT_HEADER as u64
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
    for at in [0, 4, 8, 10, 11, 12, 13, 16, 20, 24, 32, 40] {
        let (_dir, path, mut writer) = spool();
        let [one, two, three] = three(&mut writer, b"one");
        flip(&path, in_file(one) + at);
        let positions: Vec<_> = all(&path).iter().map(|(head, _)| head.position).collect();
        assert_eq!(positions, [FIRST, two, three], "byte {at}");
        // While the recorder lives, what is not whole may yet become so.
        assert_eq!(all_of(&path, Tail::Growing).len(), 1, "byte {at}");
    }
}

#[test]
fn a_record_within_a_damaged_one_is_not_taken_for_one() {
    let (_dir, path, mut writer) = spool();
    let own = std::fs::read(&path).unwrap();
    let [one, two, _] = three(&mut writer, &own);
    flip(&path, in_file(one) + 50);
    let records = all(&path);
    assert_eq!((records.len(), records[1].0.position), (3, two));
}

/// The indexer has committed everything before `position`.
fn release(path: &Path, released: u64) {
    let reader = SpoolReader::open(path).unwrap();
    let progress = Progress {
        released,
        drained: released,
        derived: 0,
        is_over: false,
        indexer: 0,
    };
    reader.publish(&progress).unwrap();
}

/// Numbers that look random and are the same in each run.
fn dice(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    *seed >> 33
}

/// Appends a chunk of some bytes; returns its position and the bytes.
fn append(writer: &mut Writer, seed: &mut u64) -> (u64, Vec<u8>) {
    let most = [100, 5_000, MAX_CHUNK as u64][usize::try_from(dice(seed) % 3).unwrap()];
    let len = usize::try_from(dice(seed) % most).unwrap();
    let (position, payload) = (writer.end(), vec![dice(seed).to_le_bytes()[0]; len]);
    let (kind, stream) = (RecordKind::Chunk, StreamId::S2C);
    writer.append(kind, stream, Moment(1), 0, &payload).unwrap();
    (position, payload)
}

#[test]
fn what_was_not_released_is_there_whatever_was_written_again() {
    for mut seed in 1..12 {
        let (_dir, path, mut writer) = spool();
        let (mut records, mut released) = (Vec::new(), 0);
        for n in 0..300 {
            records.push(append(&mut writer, &mut seed));
            match dice(&mut seed) % 12 {
                0 => {
                    let until = usize::try_from(dice(&mut seed)).unwrap() % records.len();
                    released = records[until].0.max(released);
                    release(&path, released);
                    records.retain(|(position, _)| *position >= released);
                }
                1 => writer.trim().unwrap(),
                _ => continue,
            }
            let mut reader = SpoolReader::open(&path).unwrap();
            let mut payload = Vec::new();
            let mut position = released.max(records[0].0);
            for (at, bytes) in &records {
                let head = reader.read(position, Tail::Growing, &mut payload).unwrap();
                let head = head.unwrap_or_else(|| panic!("seed {seed}, record {n} at {at}"));
                assert_eq!((head.position, &payload), (*at, bytes), "seed {seed}, {n}");
                position = head.end();
            }
            for tail in [Tail::Growing, Tail::Final] {
                assert!(reader.read(position, tail, &mut payload).unwrap().is_none());
            }
        }
    }
}

/// A writer that is killed has written some first bytes of what it was about to write.
#[test]
fn any_first_part_of_a_write_leaves_exactly_the_records_before_it() {
    for mut seed in 1..30 {
        let (_dir, path, mut writer) = spool();
        let mut records = Vec::new();
        while records.len() < 40 {
            records.push(append(&mut writer, &mut seed));
            let (first, last) = (records[0].0, records[records.len() - 1].0);
            release(
                &path,
                if dice(&mut seed).is_multiple_of(2) {
                    last
                } else {
                    first
                },
            );
        }
        let released = SpoolReader::open(&path).unwrap().progress().released;
        records.retain(|(position, _)| *position >= released);
        let before = std::fs::read(&path).unwrap();
        append(&mut writer, &mut seed);
        let after = std::fs::read(&path).unwrap();
        // Only the end of the file and one or two segments differ.
        let differing: Vec<_> = (0..after.len())
            .filter(|at| before.get(*at) != Some(&after[*at]))
            .collect();
        for part in 0..8 {
            let cut = differing.len() * part / 8;
            let mut file = before.clone();
            file.resize(
                file.len()
                    .max(differing[..cut].last().map_or(0, |at| at + 1)),
                0,
            );
            differing[..cut]
                .iter()
                .for_each(|at| file[*at] = after[*at]);
            std::fs::write(&path, &file).unwrap();
            let mut reader = SpoolReader::open(&path).unwrap();
            let (mut payload, mut position) = (Vec::new(), records[0].0);
            for (at, bytes) in &records {
                let head = reader
                    .read(position, Tail::Final, &mut payload)
                    .unwrap()
                    .unwrap();
                assert_eq!(
                    (head.position, &payload),
                    (*at, bytes),
                    "seed {seed}, part {part}"
                );
                position = head.end();
            }
            assert!(
                reader
                    .read(position, Tail::Final, &mut payload)
                    .unwrap()
                    .is_none()
            );
        }
    }
}

#[test]
fn the_file_is_as_long_as_the_backlog_however_much_goes_through() {
    use std::os::unix::fs::MetadataExt;
    let (_dir, path, mut writer) = spool();
    let chunk = vec![b'x'; MAX_CHUNK];
    let size = || path.metadata().unwrap().blocks() * 512;
    for n in 0..2000 {
        let (kind, stream) = (RecordKind::Chunk, StreamId::S2C);
        writer.append(kind, stream, Moment(1), 0, &chunk).unwrap();
        // The indexer is five segments behind, and for a while fifty.
        let backlog = if (500..900).contains(&n) { 50 } else { 5 } * SEGMENT;
        if n % 10 == 0 {
            release(&path, writer.end().saturating_sub(backlog));
            writer.trim().unwrap();
            let most = 2 * FIRST + backlog + 3 * SEGMENT;
            assert!(
                n > 900 && n < 1100 || size() <= most,
                "{n}: {} of {most}",
                size()
            );
        }
    }
    release(&path, writer.end());
    writer.trim().unwrap();
    assert!(size() <= 2 * FIRST + 3 * SEGMENT, "{}", size());
    assert!(writer.is_trim());
}

#[test]
fn neither_a_damaged_status_nor_a_damaged_start_makes_a_spool_unreadable() {
    for at in [0, 22, FIRST, FIRST + 20] {
        let (_dir, path, mut writer) = spool();
        three(&mut writer, b"one");
        flip(&path, at);
        let records = all(&path);
        assert_eq!(records.last().unwrap().1, b"three", "byte {at}");
        let reader = SpoolReader::open(&path).unwrap();
        assert_eq!(reader.is_status_damaged().unwrap(), at < FIRST);
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
    assert_eq!(all(&path)[1].1, foreign);
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
