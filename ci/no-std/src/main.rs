//! Every design without std, on a platform of the program's own: requests go round, and come back handled.
//!
//! That std is not there is proven by the panic handler: with std there would be two.

#![no_std]
#![no_main]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};
use slotwork::{Design, Lock, NativeCell, Platform, Pool, Shape, Site};

unsafe extern "C" {
    fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
    fn abort() -> !;
}

struct Libc;

// SAFETY: the C library's allocator, with the size rounded up as it demands.
unsafe impl GlobalAlloc for Libc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let alignment = layout.align().max(size_of::<usize>());
        // SAFETY: a power of two, and a multiple of it.
        unsafe { aligned_alloc(alignment, layout.size().next_multiple_of(alignment)).cast() }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _layout: Layout) {
        // SAFETY: from `aligned_alloc`.
        unsafe { free(memory.cast()) };
    }
}

#[global_allocator]
static ALLOCATOR: Libc = Libc;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: it may always be called.
    unsafe { abort() }
}

/// The `alloc` that comes with the compiler for a hosted target was compiled to unwind, and names these. Nothing unwinds.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// As above.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    // SAFETY: it may always be called.
    unsafe { abort() }
}

/// A machine without threads to park.
struct Bare;

// SAFETY: the atomics of `core`, with the orderings of the sites, and a spin lock.
unsafe impl Platform for Bare {
    type AtomicU32 = AtomicU32;
    type AtomicU64 = AtomicU64;
    type AtomicPtr<T> = AtomicPtr<T>;
    type Lock<T: Send> = SpinLock<T>;
    type Cell = NativeCell;
    type Thread = ();

    fn fence(_site: &'static Site) {
        fence(Ordering::SeqCst);
    }

    fn spin_hint() {
        core::hint::spin_loop();
    }

    fn yield_now() {
        core::hint::spin_loop();
    }

    fn current() {}

    fn park() {}

    fn unpark(_thread: &()) {}
}

struct SpinLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by whoever has taken the lock, alone.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T: Send> Lock<T> for SpinLock<T> {
    fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    fn with<R>(&self, _site: &'static Site, critical: impl FnOnce(&mut T) -> R) -> R {
        while self.taken.swap(true, Ordering::Acquire) {
            core::hint::spin_loop();
        }
        // SAFETY: the lock is taken.
        let result = critical(unsafe { &mut *self.value.get() });
        self.taken.store(false, Ordering::Release);
        result
    }
}

fn circle<D: Design>() {
    let queue = D::build::<Bare>(Shape::new(2, 4).unwrap()).unwrap();
    let (client, workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
    for round in 0..100 {
        let mut submitted = 0;
        while let Some(mut vacant) = client.acquire() {
            assert!(*vacant == 0 || *vacant == 2 * round - 1);
            *vacant = round;
            vacant.submit();
            submitted += 1;
        }
        assert!(submitted == 8);
        for worker in &workers {
            while let Some(mut claimed) = worker.take() {
                *claimed = 2 * *claimed + 1;
                claimed.complete();
                submitted -= 1;
            }
        }
        assert!(submitted == 0);
        client.drain();
    }
}

#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    circle::<slotwork_bitmap::Bitmap>();
    circle::<slotwork_slot_state::SlotState>();
    circle::<slotwork_bitmap::BitmapOwned>();
    circle::<slotwork_bitmap::BitmapSteal>();
    circle::<slotwork_bitmap::BitmapRefill>();
    circle::<slotwork_bitmap::BitmapClaim>();
    circle::<slotwork_shared_bitmap::SharedBitmap>();
    circle::<slotwork_freelist_bitmap::FreelistBitmap>();
    circle::<slotwork_freelist_bitmap::FreelistSteal>();
    circle::<slotwork_double_list::DoubleList>();
    circle::<slotwork_double_list::GrabList>();
    circle::<slotwork_locked::GlobalLock>();
    circle::<slotwork_locked::LaneLock>();
    #[cfg(feature = "slotwork-linked-queue")]
    circle::<slotwork_linked_queue::LinkedQueue>();
    0
}
