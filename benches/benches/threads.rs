//! Criterion: the slot round trip between threads, 1×1 and 2×2, with 16 slots per lane.
//!
//! `slotwork rank` measures the same, interleaved and with a verdict; here each design stands alone.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use slotwork::Shape;
use slotwork_bench::contender::{Peers, catalog, peers};
use slotwork_bench::grid::admit;
use slotwork_bench::handler::Handler;
use slotwork_bench::placement::Placement;
use slotwork_bench::waiting::Waiting;
use slotwork_bench::workload::{Cell, Conditions};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn threads(criterion: &mut Criterion) {
    let placement = Placement::pinned();
    let interrupted = AtomicBool::new(false);
    for (clients, workers) in [(1, 1), (2, 2)] {
        let shape = Shape::new(workers, 16).expect("a small shape");
        let waiting = Waiting::suited_to(clients + workers, placement.cores());
        let cell = Cell { clients, shape, waiting, handler_nanoseconds: 0 };
        let mut group = criterion.benchmark_group(format!("{clients}x{workers}"));
        group.throughput(Throughput::Elements(1));
        let mut contenders = catalog();
        contenders.extend(peers(Peers::Some));
        for contender in contenders.iter().filter(|contender| admit(contender, &cell).is_ok()) {
            let window = |length: Duration| {
                let conditions = Conditions {
                    handler: Handler::NOTHING,
                    placement: &placement,
                    warm_up: Duration::from_millis(5),
                    window: length,
                    interrupted: &interrupted,
                };
                contender.run(cell, conditions).expect("the counts agree").expect("nobody interrupts")
            };
            group.bench_function(BenchmarkId::from_parameter(&contender.name), |bencher| {
                // Criterion asks for a number of round trips; a window of fixed length answers in time per trip.
                bencher.iter_custom(|count| {
                    let measured = window(Duration::from_millis(25));
                    measured.length.mul_f64(count as f64 / measured.round_trips.max(1) as f64)
                });
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500))
        .without_plots();
    targets = threads
}
criterion_main!(benches);
