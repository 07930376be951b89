//! What a redacted recording is called by.
//!
//! The id of an imported recording comes from the bytes of its file, secrets and all: whoever has
//! all but a short secret could try which one gives that id. Such a recording gets an id of what
//! everybody may see. What it was made from says nothing to a stranger either, may be imported, or
//! have a secret in its name.

use mcpreel_store::reader::Summary;

/// Gives `summary` an id that may be known, the same for the same recording.
pub(super) fn make_public(summary: &mut Summary) {
    summary.parent = None;
    summary.context.parent = None;
    summary.context.played = None;
    if comes_from_its_bytes(summary) {
        let mut hasher = crc32fast::Hasher::new();
        for number in [summary.wall_ns, summary.frames, summary.t_last_ns] {
            hasher.update(&number.to_le_bytes());
        }
        summary.id = format!("{:08x}", hasher.finalize());
        summary.context.recording.clone_from(&summary.id);
    }
}

/// Whether the id of this recording is a sum of all its bytes.
pub fn comes_from_its_bytes(summary: &Summary) -> bool {
    summary.origin == "import"
}
