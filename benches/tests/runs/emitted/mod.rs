//! The programs that `slotwork pick` writes, one for each design, as they are written.

// Their `main` is called from here, and as written it is not public to anybody.
macro_rules! programs {
    ($($module:ident $name:literal),+ $(,)?) => {
        $(
            mod $module {
                include!(concat!(stringify!($module), ".rs"));

                pub(super) fn run() -> Result<(), Box<dyn std::error::Error>> {
                    main()
                }
            }
        )+

        /// Each design's program.
        pub(super) const ALL: &[(&str, fn() -> Result<(), Box<dyn std::error::Error>>)] = &[$(($name, $module::run)),+];
    };
}

programs! {
    bitmap "bitmap",
    slot_state "slot-state",
    bitmap_owned "bitmap-owned",
    bitmap_steal "bitmap-steal",
    bitmap_refill "bitmap-refill",
    bitmap_claim "bitmap-claim",
    shared_bitmap "shared-bitmap",
    freelist_bitmap "freelist-bitmap",
    freelist_steal "freelist-steal",
    double_list "double-list",
    grab_list "grab-list",
    linked_queue "linked-queue",
    global_lock "global-lock",
    lane_lock "lane-lock",
}
