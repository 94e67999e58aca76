//! An allocator that counts: how much memory is in use, and the most there was.
//!
//! # Safety
//!
//! `GlobalAlloc` can be implemented with unsafe code only. Every call goes to the allocator of the system unchanged; we
//! only add and subtract the sizes the caller names. Code that measures itself runs in the fuzzer alone.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static USED_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The allocator of the system, counted.
#[derive(Debug)]
pub struct Counting;

// SAFETY: every call is passed on as it came; see above.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED_BYTES.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        taken(size);
        USED_BYTES.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn taken(size: usize) {
    let used = USED_BYTES.fetch_add(size, Relaxed).wrapping_add(size);
    PEAK_BYTES.fetch_max(used, Relaxed);
}

/// Forgets the most there was.
pub fn restart() {
    PEAK_BYTES.store(USED_BYTES.load(Relaxed), Relaxed);
}

/// The most memory that was in use at once since [`restart`], beyond `before`.
pub fn most_beyond(before: usize) -> usize {
    PEAK_BYTES.load(Relaxed).saturating_sub(before)
}

/// What is in use now.
pub fn used() -> usize {
    USED_BYTES.load(Relaxed)
}
