//! Which frames are the user's.

/// Whether a file belongs to a library, the interpreter or compiled code, and not to the program that the user wrote.
///
/// Decided by the path alone: installed packages, the standard library, frozen and generated modules, shared objects, and frames
/// without a file.
pub fn is_library_file(file: &str) -> bool {
    if file.is_empty() || file.starts_with('<') || file == "??" {
        return true;
    }
    let has = |part: &str| file.contains(part);
    has("/site-packages/")
        || has("/dist-packages/")
        || has("\\site-packages\\")
        || has("/torch/distributed/")
        || has("/torch/nn/")
        || has("/torch/csrc/")
        || has("/c10/")
        || file.ends_with(".so")
        || has(".so.")
        || is_standard_library(file)
}

/// `…/lib/python3.11/runpy.py`.
fn is_standard_library(file: &str) -> bool {
    file.split_once("/lib/python")
        .is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_code_is_told_from_libraries() {
        for (file, library) in [
            ("/home/me/train.py", false),
            ("train.py", false),
            ("/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", true),
            ("/usr/lib/python3.11/threading.py", true),
            ("<frozen runpy>", true),
            ("<string>", true),
            ("", true),
            ("/src/pytorch/torch/csrc/distributed/c10d/init.cpp", true),
            ("/opt/megatron/megatron/core/tensor_parallel/mappings.py", false),
            ("/opt/conda/lib/libtorch_cuda.so", true),
        ] {
            assert_eq!(is_library_file(file), library, "{file}");
        }
    }
}
