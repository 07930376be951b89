//! The machine: its name, its processors, and what it says about a process.

use std::fs;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often the memory of a process is looked at, of which the kernel keeps the peak: each look
/// takes the process some time.
const LOOK: Duration = Duration::from_millis(25);

/// What stands above the table: processor, kernel, how busy others kept the machine.
pub fn describe(load_before: &str) -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "{model}, {count} CPUs, {} {}; load {load_before} before, {} after",
        std::env::consts::OS,
        kernel.trim(),
        load()
    )
}

/// The load average of the last minute.
pub fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or("unknown").to_owned()
}

/// Keeps this thread, and every process and thread that it starts, on one CPU until dropped.
pub struct Pinned {
    #[cfg(target_os = "linux")]
    before: nix::sched::CpuSet,
}

impl Pinned {
    /// Pins to the last CPU: interrupts mostly go to the first.
    #[cfg(target_os = "linux")]
    pub fn to_one_cpu() -> anyhow::Result<Self> {
        use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
        let before = sched_getaffinity(nix::unistd::Pid::this())?;
        let allowed = |cpu: &usize| before.is_set(*cpu).unwrap_or(false);
        let last = (0..CpuSet::count()).rev().find(allowed).unwrap_or(0);
        let mut one = CpuSet::new();
        one.set(last)?;
        sched_setaffinity(nix::unistd::Pid::this(), &one)?;
        Ok(Self { before })
    }

    /// Where processes cannot be pinned, the figures are those of all CPUs.
    #[cfg(not(target_os = "linux"))]
    pub fn to_one_cpu() -> anyhow::Result<Self> {
        Ok(Self {})
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        let _ = nix::sched::sched_setaffinity(nix::unistd::Pid::this(), &self.before);
    }
}

/// CPU time that this process has taken.
pub fn cpu_time() -> anyhow::Result<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let time = usage.user_time() + usage.system_time();
    Ok(Duration::from_micros(u64::try_from(
        time.num_microseconds(),
    )?))
}

/// The largest resident set that the living process `pid` has had, bytes.
pub fn peak_memory(pid: u32) -> anyhow::Result<u64> {
    Ok(status_field(&format!("/proc/{pid}/status"), "VmHWM:")? * 1024)
}

/// The part of the resident set of `pid` that is pages of files: of its program above all, which every
/// process of that program has in common.
pub fn memory_of_files(pid: u32) -> anyhow::Result<u64> {
    Ok(status_field(&format!("/proc/{pid}/status"), "RssFile:")? * 1024)
}

/// Waits for the end of `child`; the largest resident set that it had until shortly before, bytes.
pub fn peak_of(child: &mut Child) -> anyhow::Result<u64> {
    let (pid, is_over) = (child.id(), AtomicBool::new(false));
    let look = || {
        let mut peak = 0;
        while !is_over.load(Ordering::Acquire) {
            peak = peak_memory(pid).unwrap_or(0).max(peak);
            thread::park_timeout(LOOK);
        }
        peak
    };
    thread::scope(|scope| {
        let looker = scope.spawn(look);
        let ended = child.wait();
        is_over.store(true, Ordering::Release);
        looker.thread().unpark();
        ended?;
        Ok(looker.join().unwrap_or(0))
    })
}

/// How often the threads of `pid` have been put on a CPU, and how often the kernel took them off.
pub fn context_switches(pid: u32) -> anyhow::Result<u64> {
    let mut switches = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let path = task?.path().join("status");
        let path = path.to_string_lossy();
        switches += status_field(&path, "voluntary_ctxt_switches:")?;
        switches += status_field(&path, "nonvoluntary_ctxt_switches:")?;
    }
    Ok(switches)
}

fn status_field(path: &str, name: &str) -> anyhow::Result<u64> {
    let status = fs::read_to_string(path)?;
    let value = status.lines().find_map(|line| line.strip_prefix(name));
    let number = value.and_then(|value| value.split_whitespace().next());
    Ok(number.unwrap_or("0").parse()?)
}

/// The process that indexes what the recorder `pid` records.
pub fn indexer_of(pid: u32) -> anyhow::Result<u32> {
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(child) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // It may have ended since.
        let words = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        let is_indexer = words.split(|byte| *byte == 0).nth(1) == Some(b"index-spool");
        let status = format!("/proc/{child}/status");
        if is_indexer && status_field(&status, "PPid:").is_ok_and(|it| it == u64::from(pid)) {
            return Ok(child);
        }
    }
    anyhow::bail!("the recorder {pid} has no indexer")
}

/// Waits until the process `pid` has stopped working: no thread of it was switched for a while.
pub fn wait_until_quiet(pid: u32) -> anyhow::Result<()> {
    const QUIET: Duration = Duration::from_millis(150);
    let mut before = u64::MAX;
    loop {
        let now = context_switches(pid)? + cpu_ticks(pid)?;
        if now == before {
            return Ok(());
        }
        before = now;
        std::thread::sleep(QUIET);
    }
}

/// CPU time of the process `pid`, in ticks of the kernel.
fn cpu_ticks(pid: u32) -> anyhow::Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The second field, the name, may hold spaces and ends with the last parenthesis.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let number = |at| {
        fields
            .split_whitespace()
            .nth(at)
            .unwrap_or("0")
            .parse::<u64>()
    };
    Ok(number(11)? + number(12)?)
}
