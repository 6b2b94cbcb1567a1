//! What the system says of this process: context switches, and memory taken.

/// Context switches of all threads so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// A thread waited.
    pub voluntary: u64,
    /// Another's turn had come.
    pub involuntary: u64,
}

/// The switches so far; none where the system does not say.
#[must_use]
pub fn switches() -> Option<Switches> {
    #[cfg(unix)]
    {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the call writes a whole `rusage` to where it is pointed, and says by zero that it has.
        let usage = unsafe {
            if libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) != 0 {
                return None;
            }
            usage.assume_init()
        };
        let voluntary = u64::try_from(usage.ru_nvcsw).ok()?;
        Some(Switches { voluntary, involuntary: u64::try_from(usage.ru_nivcsw).ok()? })
    }
    #[cfg(not(unix))]
    None
}

/// Bytes that the allocator has given out; none where it does not say.
#[must_use]
pub fn allocated() -> Option<usize> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: the call reads the allocator's own counts and touches nothing else.
        let counts = unsafe { libc::mallinfo2() };
        Some(counts.uordblks + counts.hblkhd)
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_is_a_switch() {
        let Some(before) = switches() else { return };
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(switches().unwrap().voluntary > before.voluntary);
    }

    #[test]
    fn what_is_allocated_shows() {
        const SIZE: usize = 64 << 20;
        let Some(before) = allocated() else { return };
        let block = std::hint::black_box(vec![1_u8; SIZE]);
        // Other tests allocate and free meanwhile, but not that much.
        let with = allocated().unwrap();
        assert!(with > before + SIZE / 2, "{before} {with}");
        drop(block);
        assert!(allocated().unwrap() < with - SIZE / 2);
    }
}
