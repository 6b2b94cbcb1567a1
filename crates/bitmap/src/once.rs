//! A cell that is written once: std's, or without std one that also does not block.

#[cfg(feature = "std")]
pub(crate) use std::sync::OnceLock as Once;

#[cfg(not(feature = "std"))]
pub(crate) use racing::Once;

#[cfg(not(feature = "std"))]
mod racing {
    use alloc::boxed::Box;
    use once_cell::race::OnceBox;

    /// As `OnceLock`, but that of two writers at once each makes a value, and one is dropped.
    pub(crate) struct Once<T>(OnceBox<T>);

    impl<T> Once<T> {
        pub(crate) const fn new() -> Self {
            Self(OnceBox::new())
        }

        pub(crate) fn get(&self) -> Option<&T> {
            self.0.get()
        }

        pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            self.0.get_or_init(|| Box::new(make()))
        }
    }
}
