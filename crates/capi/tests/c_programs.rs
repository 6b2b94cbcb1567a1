//! The C programs under `tests/c`, compiled and run: one process for each of their tests.
//!
//! Without a C compiler they say so and pass; but not in CI, where one has to be.

mod support;

use support::{Linkage, Program, output_of};

/// Runs every test of a program whose name does not begin with one of these words.
fn run_all(program: &Program) {
    let tests = program.tests();
    assert!(tests.len() > 4, "a program lists its tests: {tests:?}");
    for test in tests.iter().filter(|test| !test.contains("misuse") && !test.starts_with("debug_")) {
        let (succeeded, _, errors) = output_of(&mut program.command(test));
        assert!(succeeded, "{test}: {errors}");
    }
}

#[test]
fn the_interface_of_2018() {
    let Some(program) = Program::compiled("threaded_workqueue", Linkage::Shared) else { return };
    run_all(&program);
}

#[test]
fn slotwork_h() {
    let Some(program) = Program::compiled("slotwork", Linkage::Shared) else { return };
    run_all(&program);
}

#[test]
fn the_static_library_links_too() {
    let Some(program) = Program::compiled("threaded_workqueue", Linkage::Static) else { return };
    let (succeeded, _, errors) = output_of(&mut program.command("all_five_calls"));
    assert!(succeeded, "{errors}");
}

/// Right counts at 1, 4 and 64 threads, with zlib and with an empty handler: the example fails by itself otherwise.
#[test]
fn the_examples_run() {
    let Some(program) = Program::example("page_compress", &["-lz"]) else { return };
    for threads in ["1", "4", "64"] {
        for work in [&["-m", "2"][..], &["-m", "16", "-e"]] {
            let (succeeded, printed, errors) = output_of(program.with(&["-t", threads, "-c", "1"]).args(work));
            assert!(succeeded && printed.contains(&format!("threads={threads} ")), "{printed}{errors}");
        }
    }
    let Some(program) = Program::example("many_submitters", &[]) else { return };
    for arguments in [&[][..], &["double-list"]] {
        let (succeeded, printed, errors) = output_of(&mut program.with(arguments));
        assert!(succeeded, "{printed}{errors}");
    }
    let (succeeded, _, errors) = output_of(&mut program.with(&["nonsense"]));
    assert!(!succeeded && errors.contains("unknown design 'nonsense'"), "{errors}");
}

/// What the interface of 2018 cannot report ends the program, and says which call it was.
#[test]
fn misuse_is_named() {
    let Some(program) = Program::compiled("threaded_workqueue", Linkage::Shared) else { return };
    let expected = [
        ("misuse_null_workqueue", "threaded_workqueue_get_request: an argument is null"),
        ("misuse_foreign_request", "threaded_workqueue_submit_request: the pointer is no request"),
        ("misuse_inside_of_a_request", "threaded_workqueue_submit_request: the pointer is no request"),
        ("misuse_submit_twice", "threaded_workqueue_submit_request: the request is not held"),
        ("misuse_never_got", "threaded_workqueue_submit_request: the request is not held"),
        ("misuse_wait_in_handler", "threaded_workqueue_wait_for_requests: a handler may not"),
        ("misuse_destroy_in_handler", "threaded_workqueue_destroy: a handler may not"),
        ("misuse_destroy_in_done", "threaded_workqueue_destroy: a handler may not"),
        ("misuse_destroy_in_uninit", "threaded_workqueue_destroy: a handler may not"),
    ];
    let only_in_debug = [
        ("debug_misuse_after_destroy", "threaded_workqueue_get_request: the handle was destroyed"),
        ("debug_misuse_destroy_twice", "threaded_workqueue_destroy: the handle was destroyed"),
        ("debug_misuse_two_submitters", "the submitter belongs to another thread"),
    ];
    let only_in_debug = if cfg!(debug_assertions) { &only_in_debug[..] } else { &[] };
    for (test, message) in expected.iter().chain(only_in_debug) {
        let (succeeded, _, errors) = output_of(&mut program.command(test));
        assert!(!succeeded && errors.contains("slotwork: fatal: ") && errors.contains(message), "{test}: {errors}");
    }
    let tested = expected.len() + if cfg!(debug_assertions) { only_in_debug.len() } else { 3 };
    let misuses = program.tests().iter().filter(|test| test.contains("misuse")).count();
    assert_eq!(misuses, tested, "every misuse of the program is expected here");
}

#[test]
#[cfg(debug_assertions)]
fn a_debug_build_finds_out_dead_handles_and_says_which_call() {
    let Some(program) = Program::compiled("slotwork", Linkage::Shared) else { return };
    let (succeeded, _, errors) = output_of(&mut program.command("debug_dead_handles"));
    assert!(succeeded, "{errors}");
    for call in ["slotwork_drain", "slotwork_submitter_destroy", "slotwork_shutdown", "slotwork_destroy"] {
        assert!(errors.contains(&format!("slotwork: {call}: the handle was destroyed")), "{call}: {errors}");
    }
}

/// A check that is wrong is seen as wrong: the harness is no rubber stamp.
#[test]
fn a_failing_c_check_fails() {
    let Some(program) = Program::compiled("known_bad", Linkage::Shared) else { return };
    for (test, message) in [("wrong_count", "check failed"), ("crash", "")] {
        let (succeeded, _, errors) = output_of(&mut program.command(test));
        assert!(!succeeded && errors.contains(message), "{test}: {errors}");
    }
}

/// Both headers are C++ too, and C of 1999.
#[test]
fn headers_stand_alone() {
    for (language, standard) in [("c", "-std=c99"), ("c", "-std=c17"), ("c++", "-std=c++11")] {
        for header in ["slotwork.h", "threaded-workqueue.h"] {
            support::check_header(language, standard, header);
        }
    }
}

/// Each call that the library shows is made by the tests in C.
#[test]
fn every_call_is_tested() {
    let tests = concat!(include_str!("c/threaded_workqueue.c"), include_str!("c/slotwork.c"));
    let tested = |call: &str| tests.contains(&format!("{call}("));
    let symbols: Vec<_> = include_str!("../symbols.txt").lines().collect();
    assert!(symbols.len() > 20, "{symbols:?}");
    assert_eq!(symbols.into_iter().find(|call| !tested(call)), None);
    assert!(!tested("slotwork_stray"), "what is not there is not found");
}
