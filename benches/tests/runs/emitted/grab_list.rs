// 4 workers with 16 slots each, over `grab-list`.

use slotwork_workqueue::Workqueue;
use slotwork_double_list::GrabList;

#[derive(Default)]
struct Job {
    number: u64,
    square: u64,
}

impl Job {
    fn run(&mut self) {
        self.square = self.number * self.number;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (queue, submitter) = Workqueue::<Job, GrabList>::builder("worker")
        .workers(4)
        .requests_per_worker(16)
        .build(|_slot| Job::default(), Job::run)?;
    for number in 0..1000 {
        let mut job = submitter.request()?; // waits for a free slot; try_request never waits
        job.number = number;
        job.submit()?;
    }
    submitter.drain()?; // waits until all of them have been handled
    println!("{} requests handled", queue.shutdown()?.handled);
    Ok(())
}
