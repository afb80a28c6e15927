//! Python's frames, where the interpreter is in the process and the caller holds its lock.
//!
//! Only the public frame functions (Python 3.9 and later) are used, found by name at run time. A caller that gave the
//! lock away, as most libraries do around a blocking call, has no Python frames: taking the lock could wait for ever.
//!
//! A frame is kept as a number for its code object and a line. The texts of a code object are copied when it is first
//! seen, and it is kept alive, so that its address stays its own.

use std::collections::hash_map::DefaultHasher;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::hash::{Hash as _, Hasher as _};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::{Frame, PYTHON};

/// Code objects that are kept; more are rare, and then stay out of stacks.
const CODES: usize = 1 << 14;
/// Places that are tried for one code object.
const PROBES: usize = 32;

type Object = *mut c_void;

/// The interpreter's functions.
struct Interpreter {
    holds_lock: unsafe extern "C" fn() -> c_int,
    own_state: unsafe extern "C" fn() -> Object,
    current_state: unsafe extern "C" fn() -> Object,
    frame_of_state: unsafe extern "C" fn(Object) -> Object,
    frame_back: unsafe extern "C" fn(Object) -> Object,
    frame_code: unsafe extern "C" fn(Object) -> Object,
    frame_line: unsafe extern "C" fn(Object) -> c_int,
    attribute: unsafe extern "C" fn(Object, *const c_char) -> Object,
    utf8: unsafe extern "C" fn(Object) -> *const c_char,
    error_is_set: unsafe extern "C" fn() -> Object,
    clear_error: unsafe extern "C" fn(),
    keep: unsafe extern "C" fn(Object),
    release: unsafe extern "C" fn(Object),
}

/// A code object's texts.
struct Code {
    object: usize,
    name: String,
    filename: String,
}

static INTERPRETER: OnceLock<Interpreter> = OnceLock::new();
static KNOWN: [AtomicPtr<Code>; CODES] = [const { AtomicPtr::new(ptr::null_mut()) }; CODES];

/// Looks whether there is an interpreter in the process by now.
pub(crate) fn look_for_interpreter() {
    if INTERPRETER.get().is_none()
        && let Some(found) = Interpreter::find()
    {
        // Whoever was first has found the same.
        let _ = INTERPRETER.set(found);
    }
}

/// Takes the frames of the calling thread; gives how many words they took.
pub(super) fn capture(words: &mut [u64]) -> usize {
    INTERPRETER.get().map_or(0, |interpreter| interpreter.capture(words))
}

/// Gives a word its names.
pub(super) fn resolve(word: u64) -> Option<Frame> {
    let index = usize::try_from((word & !PYTHON) >> 32).ok()?;
    let line = u32::try_from(word & u64::from(u32::MAX)).unwrap_or(0);
    let code = known(index)?;
    Some(Frame { name: code.name.clone(), filename: code.filename.clone(), line })
}

#[expect(unsafe_code, reason = "texts are never freed")]
fn known(index: usize) -> Option<&'static Code> {
    // SAFETY: a place holds null or a leaked box that nobody changes.
    unsafe { KNOWN.get(index)?.load(Ordering::Acquire).as_ref() }
}

impl Interpreter {
    #[expect(unsafe_code, reason = "the functions are found by name")]
    fn find() -> Option<Self> {
        // SAFETY: every function has the type that Python's documentation gives it, for 3.9 and later.
        unsafe {
            Some(Self {
                holds_lock: std::mem::transmute::<Object, unsafe extern "C" fn() -> c_int>(symbol(
                    c"PyGILState_Check",
                )?),
                own_state: std::mem::transmute::<Object, unsafe extern "C" fn() -> Object>(symbol(
                    c"PyGILState_GetThisThreadState",
                )?),
                // The second name is that of Python 3.12 and older.
                current_state: std::mem::transmute::<Object, unsafe extern "C" fn() -> Object>(
                    symbol(c"PyThreadState_GetUnchecked").or_else(|| symbol(c"_PyThreadState_UncheckedGet"))?,
                ),
                frame_of_state: std::mem::transmute::<Object, unsafe extern "C" fn(Object) -> Object>(symbol(
                    c"PyThreadState_GetFrame",
                )?),
                frame_back: std::mem::transmute::<Object, unsafe extern "C" fn(Object) -> Object>(symbol(
                    c"PyFrame_GetBack",
                )?),
                frame_code: std::mem::transmute::<Object, unsafe extern "C" fn(Object) -> Object>(symbol(
                    c"PyFrame_GetCode",
                )?),
                frame_line: std::mem::transmute::<Object, unsafe extern "C" fn(Object) -> c_int>(symbol(
                    c"PyFrame_GetLineNumber",
                )?),
                attribute: std::mem::transmute::<Object, unsafe extern "C" fn(Object, *const c_char) -> Object>(
                    symbol(c"PyObject_GetAttrString")?,
                ),
                utf8: std::mem::transmute::<Object, unsafe extern "C" fn(Object) -> *const c_char>(symbol(
                    c"PyUnicode_AsUTF8",
                )?),
                error_is_set: std::mem::transmute::<Object, unsafe extern "C" fn() -> Object>(symbol(
                    c"PyErr_Occurred",
                )?),
                clear_error: std::mem::transmute::<Object, unsafe extern "C" fn()>(symbol(c"PyErr_Clear")?),
                keep: std::mem::transmute::<Object, unsafe extern "C" fn(Object)>(symbol(c"Py_IncRef")?),
                release: std::mem::transmute::<Object, unsafe extern "C" fn(Object)>(symbol(c"Py_DecRef")?),
            })
        }
    }

    #[expect(unsafe_code, reason = "the interpreter is a C library")]
    fn capture(&self, words: &mut [u64]) -> usize {
        // SAFETY: these three may be called by any thread at any time. With several interpreters in the process the
        // first always says yes; then the other two differ.
        let state = unsafe {
            if (self.holds_lock)() == 0 {
                return 0;
            }
            let state = (self.own_state)();
            if state.is_null() || state != (self.current_state)() {
                return 0;
            }
            state
        };
        let mut len = 0;
        // SAFETY: the caller holds the lock, and this function does not give it away: what it calls runs no Python
        // code. Every reference that it gets it gives back. A pending error of the program is left alone.
        unsafe {
            if !(self.error_is_set)().is_null() {
                return 0;
            }
            let mut frame = (self.frame_of_state)(state);
            while !frame.is_null() {
                if let Some(word) = words.get_mut(len)
                    && let Some(taken) = self.word(frame)
                {
                    *word = taken;
                    len += 1;
                }
                let back = if len < words.len() { (self.frame_back)(frame) } else { ptr::null_mut() };
                (self.release)(frame);
                frame = back;
            }
        }
        len
    }

    /// # Safety
    ///
    /// The caller holds the interpreter's lock and a reference to the frame.
    #[expect(unsafe_code, reason = "the interpreter is a C library")]
    unsafe fn word(&self, frame: Object) -> Option<u64> {
        // SAFETY: as told above.
        unsafe {
            let code = (self.frame_code)(frame);
            let index = self.index(code);
            (self.release)(code);
            let line = u32::try_from((self.frame_line)(frame)).unwrap_or(0);
            Some(PYTHON | u64::try_from(index?).ok()? << 32 | u64::from(line))
        }
    }

    /// The number of a code object. The same object may get two, if two threads of a Python without a lock see it
    /// first at once.
    ///
    /// # Safety
    ///
    /// The caller holds the interpreter's lock and a reference to the code object.
    #[expect(unsafe_code, reason = "the interpreter is a C library")]
    unsafe fn index(&self, code: Object) -> Option<usize> {
        let mut hasher = DefaultHasher::new();
        code.addr().hash(&mut hasher);
        let start = usize::try_from(hasher.finish() % CODES as u64).ok()?;
        for probe in 0..PROBES {
            let index = (start + probe) % CODES;
            match known(index) {
                Some(found) if found.object == code.addr() => return Some(index),
                Some(_) => {}
                None => {
                    // SAFETY: as told above. The reference that is kept is never given back.
                    let texts = unsafe {
                        (self.keep)(code);
                        Code {
                            object: code.addr(),
                            // The longer name is there since Python 3.11.
                            name: self
                                .text(code, c"co_qualname")
                                .or_else(|| self.text(code, c"co_name"))
                                .unwrap_or_default(),
                            filename: self.text(code, c"co_filename").unwrap_or_default(),
                        }
                    };
                    let texts = Box::into_raw(Box::new(texts));
                    let place = &KNOWN[index];
                    if place.compare_exchange(ptr::null_mut(), texts, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                        return Some(index);
                    }
                    // SAFETY: it was made above and given to nobody.
                    drop(unsafe { Box::from_raw(texts) });
                }
            }
        }
        None
    }

    /// # Safety
    ///
    /// The caller holds the interpreter's lock and a reference to the object.
    #[expect(unsafe_code, reason = "the interpreter is a C library")]
    unsafe fn text(&self, object: Object, name: &CStr) -> Option<String> {
        // SAFETY: as told above; the text lives as long as the attribute, which is held while it is copied.
        unsafe {
            let attribute = (self.attribute)(object, name.as_ptr());
            if attribute.is_null() {
                (self.clear_error)();
                return None;
            }
            let text = (self.utf8)(attribute);
            let copy = if text.is_null() {
                (self.clear_error)();
                None
            } else {
                Some(CStr::from_ptr(text).to_string_lossy().into_owned())
            };
            (self.release)(attribute);
            copy
        }
    }
}

#[expect(unsafe_code, reason = "the loader is a C library")]
fn symbol(name: &CStr) -> Option<Object> {
    // SAFETY: the name is a C string; whatever is found is only given back.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}
