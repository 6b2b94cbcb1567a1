//! What concerns the whole process: fork, processor time, one processor, no more threads to be had. Each in a process
//! of its own.

use crate::support::child::{fault_in_child, in_child, in_child_with};
use crate::support::fault::Fault;
use crate::support::subject::{Plan, Subject, Wait, handle, ignore};
use crate::support::toy::Toy;
use crate::support::{IMPATIENCE, PATIENCE, for_every_design, until};
use slotwork_bitmap::BitmapClaim;
use slotwork_linked_queue::LinkedQueue;
use slotwork_workqueue::{BuildError, RequestError, ShutdownError, Waiting, Workqueue};
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The child process harness sees a child that fails, and one that does not end.
#[test]
fn rejects_a_child_that_fails() {
    let fault = fault_in_child("process::rejects_a_child_that_fails", PATIENCE, || panic!("planted"));
    assert!(fault.is_some_and(|fault| fault.contains("planted")));
}

#[test]
fn rejects_a_child_that_hangs() {
    let fault = fault_in_child("process::rejects_a_child_that_hangs", IMPATIENCE, || {
        loop {
            std::thread::park();
        }
    });
    assert!(fault.is_some_and(|fault| fault.contains("no end")));
}

/// Runs `body` in a fork of this process; its exit code, or none if it does not end.
fn exit_code_of_fork(body: impl FnOnce() -> i32) -> Option<i32> {
    // SAFETY: the fork has this thread alone. `body` calls nothing but the workqueue, whose calls return before they
    // take a lock of it, and the allocator, which the C library makes ready for use after a fork; and the fork ends by
    // `_exit`, which runs no destructor.
    let fork = unsafe { libc::fork() };
    assert!(fork >= 0, "no fork");
    if fork == 0 {
        let code = catch_unwind(AssertUnwindSafe(body)).unwrap_or(101);
        // SAFETY: ends the fork, at once.
        unsafe { libc::_exit(code) };
    }
    let started = Instant::now();
    loop {
        let mut status = 0;
        // SAFETY: the fork is a child of this process that nobody else waits for, and `status` outlives the call.
        if unsafe { libc::waitpid(fork, &raw mut status, libc::WNOHANG) } == fork {
            return libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
        }
        if started.elapsed() > IMPATIENCE * 4 {
            // SAFETY: as above; a process that is killed can be waited for.
            unsafe {
                libc::kill(fork, libc::SIGKILL);
                libc::waitpid(fork, &raw mut status, 0);
            }
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The workers are not in the fork: whoever waits for them there is told so, and dropping the handles does not wait.
#[test]
fn fork_is_told_and_waits_for_nobody() {
    in_child("process::fork_is_told_and_waits_for_nobody", || {
        let (queue, submitter) = Workqueue::<u64, BitmapClaim>::builder("fork")
            .requests_per_worker(2)
            .try_build(|_| Ok::<_, ()>(0), |_| {}, |_| {})
            .expect("a small workqueue");
        submitter.request().expect("not stopped").submit().expect("not stopped");
        submitter.drain().expect("outside of handlers");
        // Taken by the fork, and still here.
        let handles = RefCell::new(Some((queue, submitter.clone())));
        let code = exit_code_of_fork(|| {
            let mut wrong = i32::from(submitter.drain() != Err(RequestError::Forked));
            // Slots can be had, and nobody will handle them.
            while let Some(request) = submitter.try_request() {
                wrong |= 2 * i32::from(request.submit().is_err());
            }
            wrong |= 4 * i32::from(submitter.request().map(drop) != Err(RequestError::Forked));
            let waited = submitter.request_timeout(Duration::from_secs(3600)).map(drop);
            wrong |= 8 * i32::from(waited != Err(RequestError::Forked));
            let (queue, other) = handles.take().expect("there");
            wrong |= 16 * i32::from(queue.shutdown() != Err(ShutdownError::Forked));
            wrong |= 32 * i32::from(queue.shutdown_now() != Err(ShutdownError::Forked));
            drop(other);
            drop(queue);
            wrong
        });
        assert_eq!(code, Some(0), "what went wrong in the fork, as bits");
        // Here all is as it was.
        submitter.request().expect("not stopped").submit().expect("not stopped");
        submitter.drain().expect("outside of handlers");
        // A workqueue that knows nothing of forks waits there for ever, and that is seen.
        let toy: &dyn Subject = &Toy(Fault::None);
        let (_toy, submitter) = toy.start(Plan::new(1, 1), handle, ignore);
        let code = exit_code_of_fork(|| {
            submitter.send(Wait::Not, 1).expect("a free slot");
            i32::from(submitter.drain().is_err())
        });
        assert_eq!(code, None);
    });
}

/// Processor time of this process so far.
fn processor_time() -> Duration {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is of the right size, and of integers, for which all zeros are valid.
    let usage = unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()), 0);
        usage.assume_init()
    };
    let of = |time: libc::timeval| {
        Duration::from_micros(u64::try_from(time.tv_sec * 1_000_000 + time.tv_usec).expect("a positive time"))
    };
    of(usage.ru_utime) + of(usage.ru_stime)
}

/// Sixteen workers with nothing to do, until it is enough; the processor time of that.
fn idle_burn(waiting: Waiting, mut enough: impl FnMut(Duration) -> bool) -> Duration {
    let (queue, submitter) = Workqueue::<u64, LinkedQueue>::builder("idle")
        .workers(16)
        .waiting(waiting)
        .build(|_| 0, |_| {})
        .expect("a small workqueue");
    for _ in 0..100 {
        submitter.request().expect("not stopped").submit().expect("not stopped");
    }
    submitter.drain().expect("outside of handlers");
    std::thread::sleep(Duration::from_millis(100));
    let before = processor_time();
    let burnt = || processor_time() - before;
    while !enough(burnt()) {
        std::thread::sleep(Duration::from_millis(100));
    }
    let burnt = burnt();
    drop(queue);
    burnt
}

#[test]
fn idle_burn_of_sixteen_workers_is_nothing() {
    const BOUND: Duration = Duration::from_millis(200);
    in_child("process::idle_burn_of_sixteen_workers_is_nothing", || {
        for waiting in [Waiting::SETTLE, Waiting::BUSY_1000] {
            let started = Instant::now();
            let burnt = idle_burn(waiting, |_| started.elapsed() > Duration::from_secs(2));
            assert!(burnt < BOUND, "{waiting:?}: {burnt:?}");
        }
        // Workers that never sleep come to as much: at once, or later when others have the processors.
        assert!(idle_burn(Waiting::YIELD, |burnt| burnt > BOUND) > BOUND);
    });
}

/// Everything on one processor: what waits lets the others run, so it comes to an end.
#[cfg(target_os = "linux")]
#[test]
fn one_cpu_is_enough() {
    in_child("process::one_cpu_is_enough", || {
        // SAFETY: all zeros is an empty set, and the call reads the set only.
        unsafe {
            let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed().assume_init();
            // The first one that this process may use.
            assert_eq!(libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set), 0);
            let first = (0..1024).find(|&cpu| libc::CPU_ISSET(cpu, &set)).expect("one at least");
            libc::CPU_ZERO(&mut set);
            libc::CPU_SET(first, &mut set);
            assert_eq!(libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set), 0);
        }
        assert_eq!(std::thread::available_parallelism().map(usize::from).ok(), Some(1));
        let checks: [fn(&'static dyn Subject); 8] = [
            crate::circle::circle,
            crate::circle::yielding_policies,
            crate::drain::several_threads,
            crate::panics::panic_invisible,
            crate::shutdown::quit_drops_work,
            crate::waits::batch_too_big,
            crate::waits::bypass_count,
            crate::waits::notified_twice,
        ];
        checks.into_iter().for_each(for_every_design);
        let four_by_four = |subject: &'static dyn Subject| {
            let (queue, first) = subject.start(Plan::new(4, 1), handle, ignore);
            let others: Vec<_> = (1..if subject.many() { 4 } else { 1 }).map(|_| first.another()).collect();
            let all: Vec<_> = std::iter::once(first).chain(others).collect();
            let sent = all.len() as u64 * 500;
            crate::support::in_threads(all, |one| {
                (0..500).for_each(|number| one.send(Wait::ForEver, number).expect("not stopped"));
            });
            assert_eq!(queue.shutdown().handled, sent);
        };
        for_every_design(four_by_four);
    });
}

/// Addresses for three stacks and not for four: an error, and the threads that were started have ended.
#[cfg(target_os = "linux")]
#[test]
fn half_built_threads_are_ended() {
    // One heap for all threads, so that it takes no addresses of its own for each.
    let variables = [("RUST_MIN_STACK", "268435456"), ("MALLOC_ARENA_MAX", "1")];
    in_child_with("process::half_built_threads_are_ended", &variables, || {
        let threads = || std::fs::read_dir("/proc/self/task").expect("this process").count();
        let build = || Workqueue::<u64, BitmapClaim>::builder("half").workers(8).build(|_| 0, |_| {}).map(drop);
        let before = threads();
        let pages = std::fs::read_to_string("/proc/self/statm").expect("this process");
        let pages: u64 = pages.split_whitespace().next().and_then(|pages| pages.parse().ok()).expect("a number");
        let limit =
            libc::rlimit { rlim_cur: pages * 4096 + 3 * (256 << 20) + (128 << 20), rlim_max: libc::RLIM_INFINITY };
        // SAFETY: reads the limit only.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        for _ in 0..2 {
            match build() {
                Err(BuildError::Thread { worker, .. }) => assert_eq!(worker, 3, "some were started"),
                other => panic!("{other:?}"),
            }
            // A thread that was joined may be on the system's list for a moment.
            until(|| threads() <= before);
        }
    });
}
