//! Makes the wrappers out of their signatures.

/// Defines a function of MPI under its name, and under the one by which tools and Open MPI's Fortran bindings call it
/// (these find the MPI library's own only by looking it up, as this one does). `$real` is the library's function.
macro_rules! wrap {
    ($name:ident, $width:ident, ($($argument:ident: $type:ident),* $(,)?), |$real:ident| $body:expr) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name(
            $($argument: <$crate::arguments::$width as $crate::arguments::Width>::$type),*
        ) -> std::ffi::c_int {
            static SYMBOL: $crate::mpi_library::Symbol =
                $crate::mpi_library::Symbol::new(concat!("P", stringify!($name), "\0"));
            let address = SYMBOL.address();
            if address.is_null() {
                return $crate::wrap::absent(SYMBOL.name());
            }
            // SAFETY: the symbol is the function of this name, with the parameters that the standard fixes; words stand
            // for handles and addresses, whatever their type.
            let $real = unsafe {
                std::mem::transmute::<
                    *mut std::ffi::c_void,
                    unsafe extern "C-unwind" fn(
                        $(<$crate::arguments::$width as $crate::arguments::Width>::$type),*
                    ) -> std::ffi::c_int,
                >(address)
            };
            $body
        }

        const _: () = {
            #[unsafe(export_name = concat!("P", stringify!($name)))]
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
