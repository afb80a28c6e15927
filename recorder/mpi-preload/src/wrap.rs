//! Makes the wrappers out of their signatures.

/// Defines a function of MPI under its name, and under the one by which tools and Open MPI's Fortran bindings call it
/// (these find the MPI library's own only by looking it up, as this one does). `$real` calls the library's function;
/// `$narrowing` is what that takes where it has the plain form alone.
macro_rules! wrap {
    ($name:ident, $width:ident, ($($argument:ident: $type:ident),* $(,)?), |$real:ident| $body:expr) => {
        $crate::wrap::wrap!(
            $name, $width, ($($argument: $type),*), $crate::narrow::Narrowing::default(), |$real, _narrowing| $body
        );
    };
    (
        $name:ident, $width:ident, ($($argument:ident: $type:ident),* $(,)?), $context:expr,
        |$real:ident, $narrowing:ident| $body:expr
    ) => {
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "MPI's functions have that many")]
        pub(crate) unsafe extern "C-unwind" fn $name(
            $($argument: <$crate::arguments::$width as $crate::arguments::Width>::$type),*
        ) -> std::ffi::c_int {
            static SYMBOL: $crate::mpi_library::Symbol =
                $crate::mpi_library::Symbol::new(concat!("P", stringify!($name), "\0"));
            static PLAIN: $crate::mpi_library::Symbol =
                $crate::mpi_library::Symbol::plain(concat!("P", stringify!($name), "\0"));
            let address = SYMBOL.address();
            let plain = if address.is_null() { PLAIN.address() } else { std::ptr::null_mut() };
            if address.is_null() && plain.is_null() {
                return $crate::wrap::absent(SYMBOL.name());
            }
            let $narrowing = $context;
            let $real = |$($argument: <$crate::arguments::$width as $crate::arguments::Width>::$type),*| {
                if !address.is_null() {
                    // SAFETY: the symbol is the function of this name, with the parameters that the standard fixes; words
                    // stand for handles and addresses, whatever their type. The arguments are the program's own, or
                    // memory of ours in the place of a status.
                    return unsafe {
                        std::mem::transmute::<
                            *mut std::ffi::c_void,
                            unsafe extern "C-unwind" fn(
                                $(<$crate::arguments::$width as $crate::arguments::Width>::$type),*
                            ) -> std::ffi::c_int,
                        >(address)($($argument),*)
                    };
                }
                $(
                    let $argument = $crate::narrow::Narrow::narrow(
                        $argument, $crate::narrow::role!($type), &$narrowing,
                    );
                )*
                if $narrowing.has_failed() {
                    return $crate::flow::FAILURE;
                }
                // SAFETY: as above, of the plain form, whose counts are narrower.
                unsafe {
                    std::mem::transmute::<
                        *mut std::ffi::c_void,
                        unsafe extern "C-unwind" fn(
                            $(<$crate::arguments::Plain as $crate::arguments::Width>::$type),*
                        ) -> std::ffi::c_int,
                    >(plain)($($argument),*)
                }
            };
            $body
        }

        const _: () = {
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            #[allow(clippy::too_many_arguments, reason = "MPI's functions have that many")]
            unsafe extern "C-unwind" fn profiled(
                $($argument: <$crate::arguments::$width as $crate::arguments::Width>::$type),*
            ) -> std::ffi::c_int {
                // SAFETY: the arguments are those of the same function.
                unsafe { $name($($argument),*) }
            }
        };
    };
}
pub(crate) use wrap;

/// What a function gives that the MPI library lacks.
pub(crate) fn absent(name: &str) -> std::ffi::c_int {
    crate::line::say(&format!("{name} is asked for, and the MPI library has none"));
    crate::flow::FAILURE
}
