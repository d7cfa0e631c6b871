//! A disk that fails on demand: the functions of the C library that write and sync, in front of the real ones.
//!
//! Symbols of the program win over those of its libraries, so the standard library calls these. Without a plan, or for files
//! elsewhere, they pass everything on.

use std::ffi::{c_int, c_void};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// The fault to make, in the environment of a child.
pub(crate) const FAULT: &str = "MONOTABLE_CHILD_FAULT";
/// At which sync or write, counted from 1.
pub(crate) const PLACE: &str = "MONOTABLE_CHILD_FAULT_PLACE";

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Nothing,
    /// The process ends instead of a sync.
    EndBeforeSync,
    /// The process ends after a sync, before anybody learns of it.
    EndAfterSync,
    /// A sync fails.
    FailSync,
    /// A write fails.
    FailWrite,
    /// Half of a write happens, and the attempt to write the rest fails.
    CutWrite,
    /// Half of a write happens, which is no failure.
    ShortWrite,
    /// From a write on there is no space, until it is given back.
    NoSpace,
}

impl Fault {
    const ALL: [Fault; 8] = [
        Fault::Nothing,
        Fault::EndBeforeSync,
        Fault::EndAfterSync,
        Fault::FailSync,
        Fault::FailWrite,
        Fault::CutWrite,
        Fault::ShortWrite,
        Fault::NoSpace,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Fault::Nothing => "nothing",
            Fault::EndBeforeSync => "end-before-sync",
            Fault::EndAfterSync => "end-after-sync",
            Fault::FailSync => "fail-sync",
            Fault::FailWrite => "fail-write",
            Fault::CutWrite => "cut-write",
            Fault::ShortWrite => "short-write",
            Fault::NoSpace => "no-space",
        }
    }

    fn from_name(name: &str) -> Option<Fault> {
        Fault::ALL.into_iter().find(|fault| fault.name() == name)
    }

    pub(crate) fn ends_process(self) -> bool {
        matches!(self, Fault::EndBeforeSync | Fault::EndAfterSync)
    }

    /// Whether it is a write that goes wrong, not a sync.
    pub(crate) fn is_at_writes(self) -> bool {
        matches!(self, Fault::FailWrite | Fault::CutWrite | Fault::ShortWrite | Fault::NoSpace)
    }

    /// In how many places of a script with these counts it can happen.
    pub(crate) fn places(self, counts: &Counts) -> usize {
        match self {
            Fault::Nothing => 0,
            Fault::EndBeforeSync | Fault::EndAfterSync | Fault::FailSync => counts.syncs,
            Fault::FailWrite | Fault::CutWrite | Fault::ShortWrite | Fault::NoSpace => counts.writes,
        }
    }
}

/// How often files of the database were synced and written to.
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) syncs: usize,
    pub(crate) writes: usize,
}

impl Counts {
    pub(crate) fn to_text(&self) -> String {
        format!("counts {} {}", self.syncs, self.writes)
    }

    pub(crate) fn parse(text: &str) -> Option<Counts> {
        let (syncs, writes) = text.strip_prefix("counts ")?.split_once(' ')?;
        Some(Counts { syncs: syncs.parse().ok()?, writes: writes.parse().ok()? })
    }
}

/// What is to go wrong with the files of a directory.
#[derive(Debug)]
pub(crate) struct Plan {
    directory: PathBuf,
    pub(crate) fault: Fault,
    place: usize,
    syncs: AtomicUsize,
    writes: AtomicUsize,
    has_happened: AtomicBool,
    has_space: AtomicBool,
    fails_next: AtomicBool,
}

static PLAN: OnceLock<Plan> = OnceLock::new();

impl Plan {
    /// Makes the plan of this process from its environment.
    pub(crate) fn start(directory: PathBuf) -> &'static Plan {
        let variable = |name: &str| std::env::var(name).unwrap();
        PLAN.get_or_init(|| Plan {
            directory,
            fault: Fault::from_name(&variable(FAULT)).unwrap(),
            place: variable(PLACE).parse().unwrap(),
            syncs: AtomicUsize::new(0),
            writes: AtomicUsize::new(0),
            has_happened: AtomicBool::new(false),
            has_space: AtomicBool::new(true),
            fails_next: AtomicBool::new(false),
        })
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts { syncs: self.syncs.load(SeqCst), writes: self.writes.load(SeqCst) }
    }

    /// Whether the fault has happened by now.
    pub(crate) fn has_happened(&self) -> bool {
        self.has_happened.load(SeqCst)
    }

    /// Gives the disk its space back.
    pub(crate) fn give_space(&self) {
        self.has_space.store(true, SeqCst);
    }

    fn is_ours(&self, file: c_int) -> bool {
        std::fs::read_link(format!("/proc/self/fd/{file}"))
            .is_ok_and(|path| path.starts_with(&self.directory))
    }

    /// Counts an event; true for the one at which the fault is to happen.
    fn is_due(&self, counter: &AtomicUsize, faults: &[Fault]) -> bool {
        let count = counter.fetch_add(1, SeqCst) + 1;
        let is_due = count == self.place && faults.contains(&self.fault);
        if is_due {
            self.has_happened.store(true, SeqCst);
        }
        is_due
    }
}

const EIO: c_int = 5;
const ENOSPC: c_int = 28;

#[allow(unsafe_code, reason = "the C library's place for the number of an error")]
unsafe extern "C" {
    fn __errno_location() -> *mut c_int;
}

#[allow(unsafe_code, reason = "the number of an error goes where the C library looks for it")]
fn fail(error: c_int) {
    // SAFETY: the C library gives each thread a place of its own, which lives as long as the thread.
    unsafe { *__errno_location() = error };
}

fn result<T>(result: rustix::io::Result<T>, value: impl FnOnce(T) -> isize) -> isize {
    match result {
        Ok(done) => value(done),
        Err(error) => {
            fail(error.raw_os_error());
            -1
        }
    }
}

#[allow(unsafe_code, reason = "a file is known to the C library by its number")]
fn sync(file: c_int, real: fn(BorrowedFd<'_>) -> rustix::io::Result<()>) -> c_int {
    // SAFETY: the caller of the C function vouches for its file.
    let borrowed = unsafe { BorrowedFd::borrow_raw(file) };
    let real = || if result(real(borrowed), |()| 0) == 0 { 0 } else { -1 };
    let Some(plan) = PLAN.get().filter(|plan| plan.is_ours(file)) else { return real() };
    if !plan.is_due(&plan.syncs, &[Fault::EndBeforeSync, Fault::EndAfterSync, Fault::FailSync]) {
        return real();
    }
    match plan.fault {
        Fault::EndBeforeSync => std::process::abort(),
        Fault::EndAfterSync => {
            real();
            std::process::abort()
        }
        _ => {
            fail(EIO);
            -1
        }
    }
}

#[allow(unsafe_code, reason = "the bytes of a write come as the C library takes them")]
fn write_bytes(file: c_int, bytes: *const c_void, count: usize, offset: Option<u64>) -> isize {
    // SAFETY: the caller of the C function vouches for its file and for its bytes.
    let (borrowed, bytes) =
        unsafe { (BorrowedFd::borrow_raw(file), std::slice::from_raw_parts(bytes.cast::<u8>(), count)) };
    let real = |bytes: &[u8]| {
        let written = match offset {
            Some(offset) => rustix::io::pwrite(borrowed, bytes, offset),
            None => rustix::io::write(borrowed, bytes),
        };
        result(written, usize::cast_signed)
    };
    let Some(plan) = PLAN.get().filter(|plan| plan.is_ours(file)) else { return real(bytes) };
    let faults = [Fault::FailWrite, Fault::CutWrite, Fault::ShortWrite, Fault::NoSpace];
    let is_due = plan.is_due(&plan.writes, &faults);
    if is_due && plan.fault == Fault::NoSpace {
        plan.has_space.store(false, SeqCst);
    }
    let half = &bytes[..count / 2];
    match plan.fault {
        Fault::NoSpace if !plan.has_space.load(SeqCst) => {
            fail(ENOSPC);
            -1
        }
        Fault::FailWrite if is_due => {
            fail(EIO);
            -1
        }
        Fault::CutWrite if plan.fails_next.swap(false, SeqCst) => {
            fail(EIO);
            -1
        }
        Fault::CutWrite if is_due && !half.is_empty() => {
            plan.fails_next.store(true, SeqCst);
            real(half)
        }
        Fault::ShortWrite if is_due && !half.is_empty() => real(half),
        _ => real(bytes),
    }
}

#[allow(unsafe_code, reason = "takes the place of the C library's function")]
#[unsafe(no_mangle)]
extern "C" fn fsync(file: c_int) -> c_int {
    sync(file, |file| rustix::fs::fsync(file))
}

#[allow(unsafe_code, reason = "takes the place of the C library's function")]
#[unsafe(no_mangle)]
extern "C" fn fdatasync(file: c_int) -> c_int {
    sync(file, |file| rustix::fs::fdatasync(file))
}

#[allow(unsafe_code, reason = "takes the place of the C library's function")]
#[unsafe(no_mangle)]
extern "C" fn write(file: c_int, bytes: *const c_void, count: usize) -> isize {
    write_bytes(file, bytes, count, None)
}

#[allow(unsafe_code, reason = "takes the place of the C library's function")]
#[unsafe(no_mangle)]
extern "C" fn pwrite64(file: c_int, bytes: *const c_void, count: usize, offset: i64) -> isize {
    write_bytes(file, bytes, count, Some(offset.cast_unsigned()))
}

/// One part of a gathered write.
#[repr(C)]
struct Part {
    bytes: *const c_void,
    count: usize,
}

/// Writes the first part only, which a gathered write may do at any time.
#[allow(unsafe_code, reason = "takes the place of the C library's function")]
#[unsafe(no_mangle)]
extern "C" fn writev(file: c_int, parts: *const Part, count: c_int) -> isize {
    // SAFETY: the caller of the C function vouches for its parts.
    let parts = unsafe { std::slice::from_raw_parts(parts, usize::try_from(count).unwrap_or(0)) };
    match parts.iter().find(|part| part.count > 0) {
        Some(part) => write_bytes(file, part.bytes, part.count, None),
        None => 0,
    }
}
