//! Room on the disk, and disks that are far away.

use nix::sys::statvfs::statvfs;
use std::path::Path;

/// A full disk harms everything else on the machine: so much is left to it.
const RESERVE: u64 = 1 << 30;

/// On disks under 50 GiB the reserve is this part of the whole.
const RESERVE_PART: u64 = 50;

/// Why nothing more should be written beside `path`; `None` if there is room.
pub fn shortage(path: &Path) -> Option<String> {
    let disk = statvfs(path).ok()?;
    #[expect(
        clippy::useless_conversion,
        reason = "the width of these fields differs by platform"
    )]
    let bytes = |blocks: nix::libc::fsblkcnt_t| {
        u64::from(blocks).saturating_mul(u64::from(disk.fragment_size()))
    };
    let reserve = RESERVE.min(bytes(disk.blocks()) / RESERVE_PART);
    let left = bytes(disk.blocks_available());
    (left < reserve).then(|| format!("the disk is nearly full ({} MiB left)", left >> 20))
}

/// A warning if `path` lies on a file system that can hang: a recorder on it would hang with it.
pub fn network(path: &Path) -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        const FAR: [(i64, &str); 7] = [
            (0x6969, "NFS"),
            (0x517B, "SMB"),
            (0xFF53_4D42, "CIFS"),
            (0xFE53_4D42, "SMB"),
            (0x6573_5546, "FUSE"),
            (0x0102_1997, "9P"),
            (0x5346_414F, "AFS"),
        ];
        let kind = nix::sys::statfs::statfs(path).ok()?.filesystem_type().0;
        let (_, name) = FAR
            .iter()
            .find(|(magic, _)| i128::from(*magic) == i128::from(kind))?;
        Some(format!(
            "the recording lies on a file system over {name}: if that hangs, the session hangs"
        ))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        None
    }
}
