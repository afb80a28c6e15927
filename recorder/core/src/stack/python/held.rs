//! Python's frames by the public functions (Python 3.9 and later), where the caller holds the interpreter's lock.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use super::codes;
use super::own::symbol;

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

static INTERPRETER: OnceLock<Interpreter> = OnceLock::new();
/// Looks whether there is an interpreter in the process by now.
pub(super) fn look_for_interpreter() {
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
            super::word(index?, (self.frame_line)(frame))
        }
    }

    /// The number of a code object. A new one is kept alive, so that its address stays its own.
    ///
    /// # Safety
    ///
    /// The caller holds the interpreter's lock and a reference to the code object.
    #[expect(unsafe_code, reason = "the interpreter is a C library")]
    unsafe fn index(&self, code: Object) -> Option<usize> {
        codes::index([code.addr() as u64, 0, 0], || {
            // SAFETY: as told above. The reference that is kept is never given back.
            unsafe {
                (self.keep)(code);
                // The longer name is there since Python 3.11.
                let name = self.text(code, c"co_qualname").or_else(|| self.text(code, c"co_name"));
                Some((name.unwrap_or_default(), self.text(code, c"co_filename").unwrap_or_default()))
            }
        })
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
