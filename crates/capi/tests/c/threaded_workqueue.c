/* Tests of threaded-workqueue.h, as a program written against the interface of 2018 sees it. */
#include "check.h"
#include "slotwork.h"
#include "threaded-workqueue.h"

#include <stdint.h>

typedef struct Request {
    long number;
    long result;
    long state; /* 0: zeroed, 1: initialised, 2: uninitialised */
    long owed;  /* handled, and done was not called yet */
} Request;

static atomic_long inits, uninits, handled, dones;
static long fail_at = -1;
static pthread_t submitter_thread;
static struct gate gate = GATE_CLOSED;

static int request_init(void *opaque)
{
    Request *request = opaque;
    CHECK_EQUAL(request->number | request->result | request->state | request->owed, 0);
    if (inits++ == fail_at) {
        return -1;
    }
    request->state = 1;
    return 0;
}

static void request_uninit(void *opaque)
{
    Request *request = opaque;
    CHECK_EQUAL(request->state, 1);
    request->state = 2;
    uninits++;
}

static void request_handler(void *opaque)
{
    Request *request = opaque;
    CHECK(!pthread_equal(pthread_self(), submitter_thread));
    request->result = request->number * request->number;
    request->owed++;
    handled++;
}

static void request_done(void *opaque)
{
    Request *request = opaque;
    CHECK(pthread_equal(pthread_self(), submitter_thread));
    CHECK_EQUAL(request->owed, 1);
    CHECK_EQUAL(request->result, request->number * request->number);
    request->owed = 0;
    dones++;
}

static const ThreadedWorkqueueOps ops = {
    .thread_request_init = request_init,
    .thread_request_uninit = request_uninit,
    .thread_request_handler = request_handler,
    .thread_request_done = request_done,
    .request_size = sizeof(Request),
};

static void reset(void)
{
    inits = uninits = handled = dones = 0;
    submitter_thread = pthread_self();
}

static Threads *create(unsigned int threads, unsigned int requests)
{
    reset();
    Threads *queue = threaded_workqueue_create("test", threads, requests, &ops);
    CHECK(queue);
    return queue;
}

static void submit(Threads *queue, long number)
{
    Request *request;
    while (!(request = threaded_workqueue_get_request(queue))) {
        sched_yield();
    }
    CHECK_EQUAL(request->owed, 0);
    request->number = number;
    threaded_workqueue_submit_request(queue, request);
}

static void all_five_calls(void)
{
    static const unsigned int shapes[][2] = {{1, 1}, {1, DEFAULT_THREAD_REQUEST_NR}, {3, 5}, {16, 64}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        Threads *queue = create(shapes[i][0], shapes[i][1]);
        CHECK_EQUAL(inits, shapes[i][0] * shapes[i][1]);
        for (long number = 0; number < 5000; number++) {
            submit(queue, number);
        }
        threaded_workqueue_wait_for_requests(queue);
        CHECK_EQUAL(handled, 5000);
        CHECK_EQUAL(dones, 5000);
        threaded_workqueue_destroy(queue);
        CHECK_EQUAL(dones, 5000);
        CHECK_EQUAL(uninits, inits);
    }
}

static size_t size_now;

static int sized_init(void *request)
{
    CHECK((uintptr_t)request % _Alignof(max_align_t) == 0);
    for (size_t i = 0; i < size_now; i++) {
        CHECK_EQUAL(((unsigned char *)request)[i], 0);
    }
    memset(request, 0xaa, size_now);
    return 0;
}

static void sized_handler(void *request)
{
    memset(request, 0x55, size_now);
    handled++;
}

/* PAYLOAD-AS-HEADER: no byte of a request matters to the queue, of whatever size it is. */
static void requests_of_any_size(void)
{
    static const size_t sizes[] = {0, 1, 3, 8, 63, 64, 65, 4096, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_now = sizes[i];
        reset();
        ThreadedWorkqueueOps sized = {
            .thread_request_init = sized_init, .thread_request_handler = sized_handler, .request_size = size_now};
        Threads *queue = threaded_workqueue_create("sized", 2, 4, &sized);
        CHECK(queue);
        memset(&sized, 0xff, sizeof sized); /* it was copied */
        for (int round = 0; round < 100; round++) {
            void *request;
            while (!(request = threaded_workqueue_get_request(queue))) {
                sched_yield();
            }
            CHECK(size_now == 0 || *(unsigned char *)request == (handled >= 8 ? 0x55 : *(unsigned char *)request));
            memset(request, 0xff, size_now);
            threaded_workqueue_submit_request(queue, request);
        }
        threaded_workqueue_destroy(queue);
        CHECK_EQUAL(handled, 100);
    }
}

/* HALF-BUILT */
static void init_fails_at_every_index(void)
{
    for (fail_at = 0; fail_at < 3 * 4; fail_at++) {
        reset();
        CHECK(threaded_workqueue_create("half", 3, 4, &ops) == NULL);
        CHECK_EQUAL(inits, fail_at + 1);
        CHECK_EQUAL(uninits, fail_at);
        CHECK(strstr(slotwork_last_error(), "threaded_workqueue_create"));
        CHECK(strstr(slotwork_last_error(), "returned -1"));
    }
    fail_at = -1;
    threaded_workqueue_destroy(create(3, 4));
    CHECK_EQUAL(inits, 12);
    CHECK_EQUAL(uninits, 12);
}

static void gated_handler(void *request)
{
    gate_pass(&gate);
    request_handler(request);
}

static const ThreadedWorkqueueOps gated = {
    .thread_request_handler = gated_handler,
    .thread_request_done = request_done,
    .request_size = sizeof(Request),
};

/* REAL-CAPACITY */
static void none_free_is_null(void)
{
    reset();
    Threads *queue = threaded_workqueue_create("full", 2, 3, &gated);
    CHECK(queue);
    void *requests[6];
    for (int i = 0; i < 6; i++) {
        CHECK((requests[i] = threaded_workqueue_get_request(queue)));
        for (int j = 0; j < i; j++) {
            CHECK(requests[i] != requests[j]);
        }
    }
    CHECK(!threaded_workqueue_get_request(queue)); /* held requests are not free */
    for (int i = 0; i < 6; i++) {
        threaded_workqueue_submit_request(queue, requests[i]);
    }
    CHECK(!threaded_workqueue_get_request(queue)); /* nor are submitted ones */
    gate_set(&gate, 1);
    threaded_workqueue_wait_for_requests(queue);
    CHECK_EQUAL(handled, 6);
    for (int i = 0; i < 6; i++) {
        CHECK(threaded_workqueue_get_request(queue));
    }
    CHECK(!threaded_workqueue_get_request(queue));
    threaded_workqueue_destroy(queue); /* with six held */
    CHECK_EQUAL(dones, 6);
}

/* What was submitted before is waited for; what is held is not. */
static void wait_is_a_cut(void)
{
    Threads *queue = create(2, 4);
    for (long round = 1; round <= 500; round++) {
        Request *held = threaded_workqueue_get_request(queue);
        CHECK(held);
        for (long i = 0; i < 7; i++) {
            submit(queue, i);
        }
        threaded_workqueue_wait_for_requests(queue);
        CHECK_EQUAL(handled, dones);
        CHECK_EQUAL(dones, round * 8 - 1);
        held->number = round;
        threaded_workqueue_submit_request(queue, held);
        threaded_workqueue_wait_for_requests(queue);
        threaded_workqueue_wait_for_requests(queue);
        CHECK_EQUAL(dones, round * 8);
    }
    threaded_workqueue_destroy(queue);
}

/* QUIT-DROPS-WORK */
static void destroy_drains(void)
{
    for (int i = 0; i < 300; i++) {
        Threads *queue = create(4, 16);
        int count = i % 64 + 1;
        for (int j = 0; j < count; j++) {
            submit(queue, j);
        }
        threaded_workqueue_destroy(queue);
        CHECK_EQUAL(handled, count);
        CHECK_EQUAL(dones, count);
        CHECK_EQUAL(uninits, 64);
    }
    threaded_workqueue_destroy(NULL);
}

static Threads *nested;
static long nested_left;

static void nested_done(void *request)
{
    request_done(request);
    if (nested_left-- > 0) {
        Request *next = threaded_workqueue_get_request(nested);
        if (next) {
            next->number = 3;
            threaded_workqueue_submit_request(nested, next);
        }
    }
}

/* NESTED-WAIT: what runs when a request is done may get and submit another one. */
static void done_submits_again(void)
{
    reset();
    ThreadedWorkqueueOps nesting = ops;
    nesting.thread_request_done = nested_done;
    nested_left = 500;
    CHECK((nested = threaded_workqueue_create("nested", 2, 4, &nesting)));
    for (long i = 0; i < 500; i++) {
        submit(nested, i);
    }
    threaded_workqueue_wait_for_requests(nested);
    nested_left = 0;
    threaded_workqueue_destroy(nested);
    CHECK(handled > 500);
    CHECK_EQUAL(handled, dones);
}

static Request *kept[3];
static long left;

static void resubmitting_done(void *request)
{
    request_done(request);
    CHECK(!threaded_workqueue_get_request(nested)); /* none is free: it is being destroyed */
    if (left) {
        kept[--left]->number = 5;
        threaded_workqueue_submit_request(nested, kept[left]);
    }
}

/* What is held may still be submitted by what runs as the workqueue is destroyed, and is handled as everything else. */
static void done_submits_what_is_held_during_destroy(void)
{
    const char *design;
    for (size_t i = 0; (design = slotwork_design_name(i)); i++) {
        setenv("SLOTWORK_DESIGN", design, 1);
        for (long holds = 0; holds <= 3; holds++) {
            reset();
            ThreadedWorkqueueOps resubmitting = ops;
            resubmitting.thread_request_done = resubmitting_done;
            CHECK((nested = threaded_workqueue_create("resubmits", 2, 2, &resubmitting)));
            for (left = 0; left < holds; left++) {
                CHECK((kept[left] = threaded_workqueue_get_request(nested)));
            }
            Request *first = threaded_workqueue_get_request(nested);
            first->number = 2;
            threaded_workqueue_submit_request(nested, first);
            threaded_workqueue_destroy(nested);
            CHECK_EQUAL(left, 0);
            CHECK_EQUAL(handled, holds + 1);
            CHECK_EQUAL(dones, holds + 1);
            CHECK_EQUAL(uninits, 4);
        }
    }
    unsetenv("SLOTWORK_DESIGN");
}

static long resident_pages(void)
{
    long total, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &total, &resident) == 2);
    fclose(file);
    return resident;
}

/* RESIZE-COUNTER, MEMORY-GROWTH */
static void create_and_destroy(void)
{
    const char *cycles = getenv("CYCLES");
    long count = cycles ? atol(cycles) : 100000, before = 0;
    for (long i = 0; i < count; i++) {
        Threads *queue = create(1, 1);
        if (i % 16 == 0) {
            submit(queue, i);
        }
        threaded_workqueue_destroy(queue);
        CHECK_EQUAL(handled, i % 16 == 0);
        CHECK_EQUAL(uninits, 1);
        if (i == count / 10) {
            before = resident_pages();
        }
    }
    /* A memory checker keeps what was freed. */
    CHECK(getenv("CHECKER") || resident_pages() < before + before / 10 + 64);
}

/* CAP-ZERO, BOUND-ON-WRONG-ARG */
static void what_cannot_be_had_is_null(void)
{
    static const unsigned int shapes[][2] = {{0, 4}, {4, 0}, {0, 0}, {1, 65}, {4097, 1}, {~0u, ~0u}, {1, ~0u}};
    reset();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        CHECK(!threaded_workqueue_create("shape", shapes[i][0], shapes[i][1], &ops));
        CHECK_EQUAL(inits, 0);
    }
    CHECK(!threaded_workqueue_create("none", 1, 1, NULL));
    ThreadedWorkqueueOps bad = ops;
    bad.thread_request_handler = NULL;
    CHECK(!threaded_workqueue_create("no handler", 1, 1, &bad));
    bad = ops;
    bad.request_size = SIZE_MAX - 7;
    CHECK(!threaded_workqueue_create("too large", 1, 1, &bad));
    CHECK_EQUAL(inits, 0);
    Threads *queue = threaded_workqueue_create(NULL, 65, 64, &ops);
    CHECK(queue);
    threaded_workqueue_destroy(queue);
    CHECK_EQUAL(uninits, 65 * 64);
}

static void the_environment_chooses(void)
{
    static const char *const waitings[] = {"settle", "spin", "yield", "park", "busy-1000"};
    const char *design;
    for (size_t i = 0; (design = slotwork_design_name(i)); i++) {
        setenv("SLOTWORK_DESIGN", design, 1);
        setenv("SLOTWORK_WAITING", waitings[i % 5], 1);
        Threads *queue = create(2, 4);
        for (long number = 0; number < 200; number++) {
            submit(queue, number);
        }
        threaded_workqueue_wait_for_requests(queue);
        CHECK_EQUAL(dones, 200);
        threaded_workqueue_destroy(queue);
        CHECK_EQUAL(uninits, 8);
    }
    unsetenv("SLOTWORK_WAITING");
    setenv("SLOTWORK_DESIGN", "nonsense", 1);
    CHECK(!threaded_workqueue_create("wrong", 1, 1, &ops));
    CHECK(strstr(slotwork_last_error(), "unknown design 'nonsense'"));
    unsetenv("SLOTWORK_DESIGN");
    setenv("SLOTWORK_DISPATCH", "sideways", 1);
    CHECK(!threaded_workqueue_create("wrong", 1, 1, &ops));
    CHECK(strstr(slotwork_last_error(), "unknown dispatch policy 'sideways'"));
    setenv("SLOTWORK_DISPATCH", "fill\377first", 1);
    CHECK(!threaded_workqueue_create("wrong", 1, 1, &ops));
    CHECK(strstr(slotwork_last_error(), "SLOTWORK_DISPATCH is not UTF-8"));
    setenv("SLOTWORK_DISPATCH", "fill-first", 1);
    threaded_workqueue_destroy(create(1, 1));
}

static void *run_elsewhere(void *queue)
{
    submitter_thread = pthread_self();
    for (long number = 0; number < 1000; number++) {
        submit(queue, number);
    }
    threaded_workqueue_wait_for_requests(queue);
    return NULL;
}

/* Created here, used there, destroyed here: one thread at a time is all that is asked for. */
static void moves_between_threads(void)
{
    Threads *queue = create(2, 4);
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, run_elsewhere, queue));
    pthread_join(thread, NULL);
    CHECK_EQUAL(dones, 1000);
    submitter_thread = pthread_self();
    threaded_workqueue_destroy(queue);
}

/* From here on: misuse. Each of these has to end the program. */

static void misuse_null_workqueue(void)
{
    threaded_workqueue_get_request(NULL);
}

static void misuse_foreign_request(void)
{
    long mine[64] = {0};
    threaded_workqueue_submit_request(create(1, 1), mine);
}

static void misuse_inside_of_a_request(void)
{
    Threads *queue = create(1, 1);
    threaded_workqueue_submit_request(queue, (char *)threaded_workqueue_get_request(queue) + 8);
}

static void misuse_submit_twice(void)
{
    reset();
    Threads *queue = threaded_workqueue_create("twice", 1, 2, &gated);
    void *request = threaded_workqueue_get_request(queue);
    threaded_workqueue_submit_request(queue, request);
    threaded_workqueue_submit_request(queue, request);
}

static void misuse_never_got(void)
{
    Threads *queue = create(1, 1);
    void *request = threaded_workqueue_get_request(queue);
    threaded_workqueue_submit_request(queue, request);
    threaded_workqueue_wait_for_requests(queue);
    threaded_workqueue_submit_request(queue, request);
}

static void waits_inside(void *request)
{
    (void)request;
    threaded_workqueue_wait_for_requests(nested);
}

static void misuse_wait_in_handler(void)
{
    reset();
    ThreadedWorkqueueOps waiting = {.thread_request_handler = waits_inside, .request_size = sizeof(Request)};
    nested = threaded_workqueue_create("waits", 1, 2, &waiting);
    submit(nested, 1);
    pause();
}

static void destroys_inside(void *request)
{
    (void)request;
    threaded_workqueue_destroy(nested);
}

/* JOIN-SELF */
static void misuse_destroy_in_handler(void)
{
    reset();
    ThreadedWorkqueueOps destroying = {.thread_request_handler = destroys_inside, .request_size = sizeof(Request)};
    nested = threaded_workqueue_create("destroys", 1, 2, &destroying);
    submit(nested, 1);
    pause();
}

static void misuse_destroy_in_uninit(void)
{
    reset();
    ThreadedWorkqueueOps destroying = ops;
    destroying.thread_request_uninit = destroys_inside;
    nested = threaded_workqueue_create("destroys", 1, 2, &destroying);
    threaded_workqueue_destroy(nested);
}

static void misuse_destroy_in_done(void)
{
    reset();
    ThreadedWorkqueueOps destroying = ops;
    destroying.thread_request_done = destroys_inside;
    nested = threaded_workqueue_create("destroys", 1, 2, &destroying);
    submit(nested, 1);
    threaded_workqueue_wait_for_requests(nested);
}

/* These are found out in a debug build only. */

static void debug_misuse_after_destroy(void)
{
    Threads *queue = create(1, 1);
    threaded_workqueue_destroy(queue);
    threaded_workqueue_get_request(queue);
}

static void debug_misuse_destroy_twice(void)
{
    Threads *queue = create(1, 1);
    threaded_workqueue_destroy(queue);
    threaded_workqueue_destroy(queue);
}

static void *waits_there(void *queue)
{
    threaded_workqueue_wait_for_requests(queue);
    return NULL;
}

static void debug_misuse_two_submitters(void)
{
    reset();
    Threads *queue = threaded_workqueue_create("two", 1, 2, &gated);
    threaded_workqueue_submit_request(queue, threaded_workqueue_get_request(queue));
    pthread_t thread;
    pthread_create(&thread, NULL, waits_there, queue);
    for (;;) {
        threaded_workqueue_get_request(queue); /* one of the two comes while the other is inside */
    }
}

#define TEST(name) {#name, name}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(all_five_calls), TEST(requests_of_any_size), TEST(init_fails_at_every_index), TEST(none_free_is_null),
        TEST(wait_is_a_cut), TEST(destroy_drains), TEST(done_submits_again), TEST(done_submits_what_is_held_during_destroy),
        TEST(create_and_destroy),
        TEST(what_cannot_be_had_is_null), TEST(the_environment_chooses), TEST(moves_between_threads),
        TEST(misuse_null_workqueue), TEST(misuse_foreign_request), TEST(misuse_inside_of_a_request),
        TEST(misuse_submit_twice), TEST(misuse_never_got), TEST(misuse_wait_in_handler),
        TEST(misuse_destroy_in_handler), TEST(misuse_destroy_in_done), TEST(misuse_destroy_in_uninit), TEST(debug_misuse_after_destroy),
        TEST(debug_misuse_destroy_twice), TEST(debug_misuse_two_submitters),
    };
    return run_named(tests, sizeof tests / sizeof *tests, argc, argv);
}
