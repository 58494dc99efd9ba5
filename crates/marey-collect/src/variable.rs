//! Variables of a thread that instructions of ours know by name.
//!
//! The one idea: such a variable lies at a fixed distance from the thread pointer, so neither an instruction nor a signal
//! handler has to ask anybody for it, and nothing is allocated when a thread first does.

/// Defines a variable of each thread, which begins with zeros, and a function that gives the calling thread's. `$bytes` is
/// its size and `$align` what power of two it is aligned to; instructions find it at `$symbol@GOTTPOFF` from `fs:0`.
macro_rules! thread_variable {
    ($(#[$doc:meta])* $vis:vis fn $name:ident -> $type:ty; $symbol:literal, $bytes:literal bytes, aligned $align:literal) => {
        const _: () = assert!(size_of::<$type>() == $bytes);

        core::arch::global_asm!(
            concat!(".pushsection .tbss.", $symbol, ",\"awT\",@nobits"),
            concat!(".hidden ", $symbol),
            concat!(".globl ", $symbol),
            concat!(".type ", $symbol, ", @tls_object"),
            concat!(".size ", $symbol, ", ", $bytes),
            concat!(".p2align ", $align),
            concat!($symbol, ":"),
            concat!(".zero ", $bytes),
            ".popsection",
        );

        $(#[$doc])*
        #[inline(always)]
        $vis fn $name() -> *mut $type {
            let at: *mut $type;
            // SAFETY: reads the thread pointer and adds the variable's distance from it.
            unsafe {
                core::arch::asm!(
                    "mov {at}, qword ptr fs:[0]",
                    concat!("add {at}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    at = out(reg) at,
                    options(nostack, readonly, pure)
                );
            }
            at
        }
    };
}
pub(crate) use thread_variable;
