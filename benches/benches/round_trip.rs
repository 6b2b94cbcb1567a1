//! Criterion: what a round trip costs on one thread, for every design, beside the ArrayQueue pair.
//!
//! `slotwork cost` measures the same and shows the ratios.

use criterion::{Criterion, criterion_group, criterion_main};
use slotwork::Design;
use slotwork_bench::single::{ArrayQueuePair, Floor, OneThread};
use slotwork_catalog::{Visitor, visit_all};
use std::time::Duration;

struct Bench<'a>(&'a mut Criterion);

impl Visitor for Bench<'_> {
    type Output = ();

    fn visit<D: Design>(&mut self) {
        let mut single = OneThread::<D>::new();
        self.0.bench_function(D::NAME, |bencher| bencher.iter(|| single.round_trip()));
    }
}

fn round_trip(criterion: &mut Criterion) {
    visit_all(&mut Bench(criterion));
    let mut pair = ArrayQueuePair::new();
    criterion.bench_function(ArrayQueuePair::NAME, |bencher| bencher.iter(|| pair.round_trip()));
    let mut floor = Floor::new();
    criterion.bench_function(Floor::NAME, |bencher| bencher.iter(|| floor.round_trip()));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .without_plots();
    targets = round_trip
}
criterion_main!(benches);
