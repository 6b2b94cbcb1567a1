//! Criterion: what a round trip costs on one thread, for every design and peer, beside the ArrayQueue pair.
//!
//! `slotwork cost` measures the same and shows the ratios.

use criterion::{Criterion, criterion_group, criterion_main};
use slotwork::Design;
use slotwork_bench::peers::visit_peers;
use slotwork_bench::single::{ArrayQueuePair, Floor, OneThread, RoundTrips};
use slotwork_catalog::{Visitor, visit_all};
use std::time::{Duration, Instant};

struct Bench<'a>(&'a mut Criterion);

fn bench(criterion: &mut Criterion, name: &str, trips: &mut impl RoundTrips) {
    criterion.bench_function(name, |bencher| {
        bencher.iter_custom(|count| {
            let start = Instant::now();
            trips.go(count);
            start.elapsed()
        });
    });
    trips.verify().expect("the counts agree");
}

impl Visitor for Bench<'_> {
    type Output = ();

    fn visit<D: Design>(&mut self) {
        bench(self.0, D::NAME, &mut OneThread::<D>::new());
    }
}

fn round_trip(criterion: &mut Criterion) {
    visit_all(&mut Bench(criterion));
    visit_peers(&mut Bench(criterion));
    bench(criterion, ArrayQueuePair::NAME, &mut ArrayQueuePair::new());
    bench(criterion, Floor::NAME, &mut Floor::new());
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
