//! Stacks of compiled code.

use std::ffi::{CStr, c_char, c_void};
use std::fs;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;

use super::Frame;

/// Frames of the recorder itself at the top of each stack, at most: they are not worth their places.
const OWN: usize = 64;

/// Takes return addresses; gives how many.
#[expect(unsafe_code, reason = "walking with a lock could wait for a stuck thread")]
pub(super) fn capture(words: &mut [u64]) -> usize {
    let mut len = 0;
    // SAFETY: what is not synchronised is the resolving of symbols on Windows; walking alone keeps no state, and the
    // closure does not walk itself.
    unsafe {
        backtrace::trace_unsynchronized(|frame| {
            let Some(word) = words.get_mut(len) else { return false };
            // Only the addresses of other modes than a user's program have the bit.
            *word = frame.ip() as u64 & !super::PYTHON;
            len += 1;
            true
        });
    }
    let own = words[..len].iter().take(OWN).take_while(|word| is_own(**word)).count();
    words.copy_within(own..len, 0);
    len - own
}

/// Whether an address is in the library that the recorder is linked into.
fn is_own(word: u64) -> bool {
    OWN_RANGE.get().is_some_and(|range| range.contains(&word))
}

/// Where the library is that the recorder is linked into. Empty if it is the program itself, whose own frames count.
static OWN_RANGE: OnceLock<Range<u64>> = OnceLock::new();

/// Finds out where this library is, from the system's list of the process's memory.
pub(crate) fn find_own_range() {
    OWN_RANGE.get_or_init(|| {
        let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let program = fs::read_link("/proc/self/exe").unwrap_or_default();
        own_range(&maps, &program.to_string_lossy(), find_own_range as *const () as u64)
    });
}

fn own_range(maps: &str, program: &str, address: u64) -> Range<u64> {
    let mapped = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let path = rest.find('/').map(|at| rest[at..].to_owned())?;
        Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?, path))
    };
    let all: Vec<_> = maps.lines().filter_map(mapped).collect();
    let Some((_, _, path)) = all.iter().find(|(from, to, _)| (*from..*to).contains(&address)) else { return 0..0 };
    if path == program {
        return 0..0;
    }
    let of_path = || all.iter().filter(|(_, _, other)| other == path);
    let from = of_path().map(|(from, ..)| *from).min().unwrap_or(0);
    from..of_path().map(|(_, to, _)| *to).max().unwrap_or(0)
}

/// The name that a library shows for an address, and the library. Empty: it shows none.
#[expect(unsafe_code, reason = "the loader is a C library")]
pub(super) fn exported_name(word: u64) -> Vec<Frame> {
    // SAFETY: it is plain data for which zeros are a value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the address is only looked up, whatever it is, and the structure is alive.
    if unsafe { libc::dladdr(call_address(word), &raw mut info) } == 0 {
        return Vec::new();
    }
    let text = |pointer: *const c_char| {
        // SAFETY: what is not null is a C string of a library that is loaded, as the address is of its code.
        (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
    };
    let name = text(info.dli_sname).map(|name| backtrace::SymbolName::new(name.as_bytes()).to_string());
    vec![Frame {
        name: name.unwrap_or_else(|| format!("{word:#x}")),
        filename: text(info.dli_fname).unwrap_or_default(),
        line: 0,
    }]
}

/// Gives an address its function, or the functions that were inlined there, innermost first.
pub(super) fn resolve(word: u64) -> Vec<Frame> {
    let mut frames = Vec::new();
    backtrace::resolve(call_address(word), |symbol| {
        // A symbol without a place says no more than the library's own name did.
        if let (Some(name), Some(path)) = (symbol.name(), symbol.filename()) {
            frames.push(Frame {
                name: format!("{name:#}"),
                filename: path.display().to_string(),
                line: symbol.lineno().unwrap_or(0),
            });
        }
    });
    frames
}

/// The call that leads to an address: that is where the call returns to, and may be the next function's.
fn call_address(word: u64) -> *mut c_void {
    ptr::with_exposed_provenance_mut(usize::try_from(word.saturating_sub(1)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::own_range;

    const MAPS: &str = "\
1000-2000 r--p 00000000 fe:00 1 /usr/bin/python3.11
7000-8000 r--p 00000000 fe:00 2 /opt/lib/libhangscope-mpi.so
8000-9000 r-xp 00001000 fe:00 2 /opt/lib/libhangscope-mpi.so
9000-9800 rw-p 00002000 fe:00 2 /opt/lib/libhangscope-mpi.so
a000-b000 rw-p 00000000 00:00 0 [heap]
";

    #[test]
    fn the_library_is_all_its_parts() {
        assert_eq!(own_range(MAPS, "/usr/bin/python3.11", 0x8800), 0x7000..0x9800);
        assert_eq!(own_range(MAPS, "/opt/lib/libhangscope-mpi.so", 0x8800), 0..0);
        assert_eq!(own_range(MAPS, "", 0xa100), 0..0);
        assert_eq!(own_range("nonsense\n", "", 0), 0..0);
    }
}
