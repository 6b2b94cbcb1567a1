//! The figures that were published with the discussions, as data: shown beside what is measured here.

/// One thread count of the page compression benchmark, in GB/s.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// Worker threads.
    pub threads: usize,
    /// The second version of the series.
    pub v2: f64,
    /// The third version.
    pub v3: f64,
}

/// Where [`WORKQUEUE`] was published.
pub const WORKQUEUE_SOURCE: &str =
    "QEMU, \"migration: improve multithreads\", v3, 2018, threaded-workqueue-bench -c 20 -m 16";

macro_rules! throughput {
    ($($threads:literal $v2:literal $v3:literal),+ $(,)?) => {
        &[$(Throughput { threads: $threads, v2: $v2, v3: $v3 }),+]
    };
}

/// The published throughput of the page compression benchmark: threads, v2, v3.
pub const WORKQUEUE: &[Throughput] = throughput![
    1 0.428024 0.449192,
    4 1.668876 1.849271,
    8 3.501940 3.644339,
    12 5.026403 4.809391,
    16 1.912374 4.709095,
    20 1.174771 4.942153,
    24 1.074085 5.116967,
    28 0.747920 4.921542,
    32 0.651409 5.008816,
    36 0.533240 5.408070,
    40 0.517421 5.166064,
    44 0.482153 4.994953,
    48 0.525176 4.853351,
    52 0.492677 4.797540,
    56 0.798679 4.815153,
    60 0.733868 4.793704,
    64 0.751396 4.913544,
];

/// The published throughput with so many worker threads, if it was published for that number.
#[must_use]
pub fn workqueue(threads: usize) -> Option<Throughput> {
    WORKQUEUE.iter().find(|row| row.threads == threads).copied()
}

/// One row of the lock splitting table: network throughput in Mbit/s over four runs.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    /// The emulated network device.
    pub device: &'static str,
    /// Virtual CPUs of the guest.
    pub processors: usize,
    /// Under one global lock.
    pub global: [f64; 4],
    /// Under a lock per device.
    pub per_device: [f64; 4],
}

impl Split {
    /// Mean under one global lock, and mean under a lock per device.
    #[must_use]
    pub fn means(&self) -> [f64; 2] {
        [self.global, self.per_device].map(|runs| runs.iter().sum::<f64>() / 4.0)
    }
}

/// Where [`SPLITS`] was published.
pub const SPLITS_SOURCE: &str =
    "\"RFC: split the global mutex\", 2008, network throughput in Mbit/s, mean of four runs";

/// The published gain of a lock per device.
pub const SPLITS: &[Split] = &[
    Split {
        device: "e1000",
        processors: 1,
        global: [131.0, 126.0, 127.0, 126.0],
        per_device: [137.0, 135.0, 133.0, 143.0],
    },
    Split {
        device: "e1000",
        processors: 4,
        global: [259.0, 391.0, 397.0, 393.0],
        per_device: [304.0, 439.0, 423.0, 441.0],
    },
    Split {
        device: "virtio-net",
        processors: 1,
        global: [124.0, 178.0, 178.0, 178.0],
        per_device: [125.0, 178.0, 183.0, 181.0],
    },
    Split {
        device: "virtio-net",
        processors: 4,
        global: [288.0, 437.0, 440.0, 446.0],
        per_device: [331.0, 517.0, 527.0, 524.0],
    },
];
