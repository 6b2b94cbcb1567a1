//! What a target has to have.

#[cfg(not(all(target_has_atomic = "32", target_has_atomic = "64", target_has_atomic = "ptr")))]
compile_error!("slotwork needs atomics of 32 bits, of 64 bits and for pointers, and this target lacks one of them");
