//! The trampolines' instructions, one version for each architecture.
//!
//! A trampoline knows nothing of its function's parameters, so it must leave every register that can carry one as it found
//! it, and the stack too. The slow path saves them all around the call of [`resolve`](crate::driver::resolve).
//! The slots are addressed through the global offset table, which is right in executables and in every kind of library.

/// Defines the function `$name`, which jumps to what `SLOTS[$index]` holds.
///
/// System V AMD64: integers travel in rdi, rsi, rdx, rcx, r8, r9, floating point in xmm0 to xmm7; r11 is free. At entry
/// the stack is 8 off a multiple of 16; six pushes keep that, and 136 more bytes make it a multiple for the call.
#[cfg(target_arch = "x86_64")]
macro_rules! trampoline {
    ($name:ident, $index:expr) => {
        /// A function of the CUDA driver.
        ///
        /// # Safety
        /// As the driver's documentation says of the function of this name.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "mov r11, qword ptr [rip + {slots}@GOTPCREL]",
                "mov r11, qword ptr [r11 + {offset}]",
                "test r11, r11",
                "je 2f",
                "jmp r11",
                "2:",
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "sub rsp, 136",
                "movups [rsp], xmm0",
                "movups [rsp + 16], xmm1",
                "movups [rsp + 32], xmm2",
                "movups [rsp + 48], xmm3",
                "movups [rsp + 64], xmm4",
                "movups [rsp + 80], xmm5",
                "movups [rsp + 96], xmm6",
                "movups [rsp + 112], xmm7",
                "mov edi, {index}",
                "call {resolve}",
                "mov r11, rax",
                "movups xmm0, [rsp]",
                "movups xmm1, [rsp + 16]",
                "movups xmm2, [rsp + 32]",
                "movups xmm3, [rsp + 48]",
                "movups xmm4, [rsp + 64]",
                "movups xmm5, [rsp + 80]",
                "movups xmm6, [rsp + 96]",
                "movups xmm7, [rsp + 112]",
                "add rsp, 136",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp r11",
                slots = sym $crate::symbols::SLOTS,
                offset = const $index * 8,
                index = const $index,
                resolve = sym $crate::driver::resolve,
            )
        }
    };
}

/// Defines the function `$name`, which jumps to what `SLOTS[$index]` holds.
///
/// AAPCS64: integers travel in x0 to x7 (x8 carries a result's address), floating point in q0 to q7; x16 is free.
#[cfg(target_arch = "aarch64")]
macro_rules! trampoline {
    ($name:ident, $index:expr) => {
        /// A function of the CUDA driver.
        ///
        /// # Safety
        /// As the driver's documentation says of the function of this name.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "adrp x16, :got:{slots}",
                "ldr x16, [x16, :got_lo12:{slots}]",
                "ldr x16, [x16, #{offset}]",
                "cbz x16, 2f",
                "br x16",
                "2:",
                "stp x29, x30, [sp, #-224]!",
                "mov x29, sp",
                "stp x0, x1, [sp, #16]",
                "stp x2, x3, [sp, #32]",
                "stp x4, x5, [sp, #48]",
                "stp x6, x7, [sp, #64]",
                "str x8, [sp, #80]",
                "stp q0, q1, [sp, #96]",
                "stp q2, q3, [sp, #128]",
                "stp q4, q5, [sp, #160]",
                "stp q6, q7, [sp, #192]",
                "mov w0, #{index}",
                "bl {resolve}",
                "mov x16, x0",
                "ldp q0, q1, [sp, #96]",
                "ldp q2, q3, [sp, #128]",
                "ldp q4, q5, [sp, #160]",
                "ldp q6, q7, [sp, #192]",
                "ldp x0, x1, [sp, #16]",
                "ldp x2, x3, [sp, #32]",
                "ldp x4, x5, [sp, #48]",
                "ldp x6, x7, [sp, #64]",
                "ldr x8, [sp, #80]",
                "ldp x29, x30, [sp], #224",
                "br x16",
                slots = sym $crate::symbols::SLOTS,
                offset = const $index * 8,
                index = const $index,
                resolve = sym $crate::driver::resolve,
            )
        }
    };
}

pub(crate) use trampoline;
