//! The designs' names as C strings.

use std::ffi::{CStr, CString};
use std::sync::OnceLock;

/// The name of the design of this number in the catalog.
pub(crate) fn design(number: usize) -> Option<&'static CStr> {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let names = slotwork_catalog::names();
        names.into_iter().map(|name| CString::new(name).expect("a design's name has no zero")).collect()
    });
    names.get(number).map(CString::as_c_str)
}
