//! The calling thread's own frames, read without the interpreter's lock.
//!
//! While a thread is in a C function, nobody else changes its frames, nor frees the code objects that they hold. What is
//! read of these was set when they were made. Lines are looked up by the interpreter's own function, which only reads.
//!
//! The first walk of a process is careful: it asks the system for every word, and checks that each code object says it
//! is one. Only if the frames are found to be as they should, later walks read directly.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use super::codes;
use super::layout::{Layout, OWNED_BY_C, TEXT_LENGTH, TEXT_STATE, TYPE, TextState};
use super::memory::{Careful, Direct, Memory};

type Object = *mut c_void;

/// What is asked of the interpreter.
struct Interpreter {
    layout: Layout,
    /// The address of the type of code objects.
    code_type: u64,
    own_state: unsafe extern "C" fn() -> Object,
    line_of: unsafe extern "C" fn(Object, c_int) -> c_int,
}

static INTERPRETER: OnceLock<Interpreter> = OnceLock::new();

/// How far the frames are trusted.
static TRUST: AtomicU8 = AtomicU8::new(UNTRIED);
const UNTRIED: u8 = 0;
const TRUSTED: u8 = 1;
const REFUSED: u8 = 2;

/// Frames that are looked at; those that are none of Python's count too.
const STEPS: usize = 256;
/// The longest name that is copied, in characters.
const LONGEST_TEXT: u64 = 4096;

/// Looks whether there is an interpreter of a known layout in the process by now.
pub(super) fn look_for_interpreter() {
    if INTERPRETER.get().is_none()
        && let Some(found) = Interpreter::find()
    {
        // Whoever was first has found the same.
        let _ = INTERPRETER.set(found);
    }
}

/// Whether there is one whose frames are, or may be, as they should.
pub(super) fn is_there() -> bool {
    INTERPRETER.get().is_some() && TRUST.load(Ordering::Relaxed) != REFUSED
}

/// Takes the frames of the calling thread; gives how many words they took.
pub(super) fn capture(words: &mut [u64]) -> usize {
    let Some(interpreter) = INTERPRETER.get() else { return 0 };
    let Some(state) = interpreter.state() else { return 0 };
    if TRUST.load(Ordering::Acquire) == TRUSTED {
        return interpreter.walk(&direct(), state, words).unwrap_or(0);
    }
    let found = Careful::open().and_then(|memory| interpreter.walk(&memory, state, words));
    match found {
        // A thread without frames says nothing.
        Some(0) => 0,
        Some(len) => {
            TRUST.store(TRUSTED, Ordering::Release);
            len
        }
        None => {
            TRUST.store(REFUSED, Ordering::Release);
            0
        }
    }
}

#[expect(unsafe_code, reason = "the frames were found to be as they should")]
fn direct() -> Direct {
    // SAFETY: a careful walk has found frames and code objects where the layout of this version says, so what a walk
    // reads are fields of a thread's own frames and of what these hold.
    unsafe { Direct::new() }
}

impl Interpreter {
    #[expect(unsafe_code, reason = "the functions are found by name")]
    fn find() -> Option<Self> {
        let version = symbol(c"Py_GetVersion")?;
        // SAFETY: every function has the type that Python's documentation gives it. The version is a C string that lives
        // as long as the interpreter's library.
        unsafe {
            let version = std::mem::transmute::<Object, unsafe extern "C" fn() -> *const c_char>(version)();
            Some(Self {
                layout: Layout::of_version(&CStr::from_ptr(version).to_string_lossy())?,
                code_type: symbol(c"PyCode_Type")?.expose_provenance() as u64,
                own_state: std::mem::transmute::<Object, unsafe extern "C" fn() -> Object>(symbol(
                    c"PyGILState_GetThisThreadState",
                )?),
                line_of: std::mem::transmute::<Object, unsafe extern "C" fn(Object, c_int) -> c_int>(symbol(
                    c"PyCode_Addr2Line",
                )?),
            })
        }
    }

    /// The address of the calling thread's state, if it is one of Python's threads.
    #[expect(unsafe_code, reason = "the interpreter is a C library")]
    fn state(&self) -> Option<u64> {
        // SAFETY: any thread may call it at any time.
        let state = unsafe { (self.own_state)() };
        (!state.is_null()).then(|| state.expose_provenance() as u64)
    }

    /// Takes frames, innermost first. `None`: something is not where it should be.
    fn walk(&self, memory: &impl Memory, state: u64, words: &mut [u64]) -> Option<usize> {
        let layout = &self.layout;
        let mut frame = memory.word(state + layout.state_frame)?;
        if let Some(offset) = layout.frame_indirect {
            frame = memory.word(frame.checked_add(offset)?)?;
        }
        let mut len = 0;
        for _ in 0..STEPS {
            let Some(word) = words.get_mut(len).filter(|_| frame != 0) else { break };
            let code = memory.word(frame.checked_add(layout.frame_code)?)?;
            let is_c = match layout.frame_owner {
                Some(offset) => memory.word(frame.checked_add(offset)?)? & 0xff == OWNED_BY_C,
                None => false,
            };
            if !is_c
                && memory.word(code.checked_add(TYPE)?)? == self.code_type
                && let Some(taken) = self.word(memory, frame, code)?
            {
                *word = taken;
                len += 1;
            }
            frame = memory.word(frame.checked_add(layout.frame_previous)?)?;
        }
        Some(len)
    }

    /// A frame's word; inner `None`: it has no place in the code yet, or there is no room for its names.
    fn word(&self, memory: &impl Memory, frame: u64, code: u64) -> Option<Option<u64>> {
        let layout = &self.layout;
        let instruction = memory.word(frame.checked_add(layout.frame_instruction)?)?;
        let first = code.checked_add(layout.code_instructions)?;
        // A frame that is just being made stands before its code; so does the interpreter's own in front of C code.
        let Some(offset) = instruction.checked_sub(first).and_then(|offset| c_int::try_from(offset).ok()) else {
            return Some(None);
        };
        let first_line = memory.word(code + layout.code_first_line)? & u64::from(u32::MAX);
        let filename = memory.word(code + layout.code_filename)?;
        let name = memory.word(code + layout.code_name)?;
        let texts = || Some((text(layout, memory, name)?, text(layout, memory, filename)?));
        let Some(index) = codes::index([code, filename ^ first_line << 48, name], texts) else { return Some(None) };
        Some(super::word(index, self.line(code, offset)))
    }

    #[expect(unsafe_code, reason = "the interpreter is a C library")]
    fn line(&self, code: u64, offset: c_int) -> c_int {
        let code = std::ptr::with_exposed_provenance_mut(usize::try_from(code).unwrap_or(0));
        // SAFETY: its type says that it is a code object, and a frame of this thread holds it. The function only reads
        // the code object's table of lines; an offset that is in no line gives -1.
        unsafe { (self.line_of)(code, offset) }
    }
}

/// A text's characters.
fn text(layout: &Layout, memory: &impl Memory, object: u64) -> Option<String> {
    let length = memory.word(object + TEXT_LENGTH)?.min(LONGEST_TEXT);
    let state = TextState::of(memory.word(object + TEXT_STATE)?);
    if !state.is_compact || ![1, 2, 4].contains(&state.width) {
        return None;
    }
    let data = object + if state.is_ascii { layout.ascii_data } else { layout.text_data };
    let mut text = String::new();
    for at in 0..length {
        // Whole words are read; what follows the last character is the text's own zero and the rest of its block.
        let address = data + at * state.width;
        let word = memory.word(address & !7)? >> ((address & 7) * 8);
        let character = u32::try_from(word & ((1 << (state.width * 8)) - 1)).ok()?;
        text.push(char::from_u32(character).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Some(text)
}

#[expect(unsafe_code, reason = "the loader is a C library")]
pub(super) fn symbol(name: &CStr) -> Option<Object> {
    // SAFETY: the name is a C string; whatever is found is only given back.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}
