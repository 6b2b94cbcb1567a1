// 4 workers with 16 slots each, over `bitmap-refill`.

use slotwork_workqueue::Workqueue;
use slotwork_bitmap::BitmapRefill;

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
    let (queue, submitter) = Workqueue::<Job, BitmapRefill>::builder("worker")
        .workers(4)
        .requests_per_worker(16)
        .build(|_slot| Job::default(), Job::run)?;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let submitter = submitter.clone();
            scope.spawn(move || {
                for number in 0..1000 {
                    let mut job = submitter.request().expect("the queue runs"); // waits for a free slot
                    job.number = number;
                    job.submit().expect("the queue runs");
                }
            });
        }
    });
    submitter.drain()?; // waits until all of them have been handled
    println!("{} requests handled", queue.shutdown()?.handled);
    Ok(())
}
