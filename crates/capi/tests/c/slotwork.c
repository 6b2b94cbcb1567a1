/* Tests of slotwork.h. */
#include "check.h"
#include "slotwork.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define STATUSES (SLOTWORK_STATUS_INTERNAL + 1)

static int seen[STATUSES];

/* Each status that was provoked is remembered. */
static slotwork_status see(slotwork_status status)
{
    CHECK(status >= 0 && status < STATUSES);
    seen[status] = 1;
    return status;
}

#define OK(call) CHECK_EQUAL(see(call), SLOTWORK_STATUS_OK)
#define FAILS(status, call) CHECK_EQUAL(see(call), SLOTWORK_STATUS_##status)

struct counts {
    atomic_long inits, uninits, handled, dones;
    long fail_at;
    struct gate *gate;
    slotwork_queue *queue;
    slotwork_submitter *submitter;
    slotwork_status inside;
};

struct request {
    long number, result, owed;
};

static int count_init(void *request, void *context)
{
    struct counts *counts = context;
    CHECK_EQUAL(((struct request *)request)->number, 0);
    return counts->inits++ == counts->fail_at ? -7 : 0;
}

static void count_uninit(void *request, void *context)
{
    (void)request;
    ((struct counts *)context)->uninits++;
}

static void count_handler(void *opaque, void *context)
{
    struct counts *counts = context;
    struct request *request = opaque;
    if (counts->gate) {
        gate_pass(counts->gate);
    }
    request->result = request->number * 2;
    request->owed++;
    counts->handled++;
}

static void count_done(void *opaque, void *context)
{
    struct request *request = opaque;
    CHECK_EQUAL(request->owed, 1);
    CHECK_EQUAL(request->result, request->number * 2);
    request->owed = 0;
    ((struct counts *)context)->dones++;
}

static slotwork_operations operations_of(struct counts *counts)
{
    return (slotwork_operations){
        .size = sizeof(slotwork_operations),
        .init = count_init,
        .uninit = count_uninit,
        .handler = count_handler,
        .done = count_done,
        .context = counts,
    };
}

static slotwork_configuration configuration_of(const char *design, uint32_t workers, uint32_t requests)
{
    return (slotwork_configuration){
        .size = sizeof(slotwork_configuration),
        .design = design,
        .request_size = sizeof(struct request),
        .workers = workers,
        .requests_per_worker = requests,
    };
}

static slotwork_queue *create(const char *design, uint32_t workers, uint32_t requests, struct counts *counts)
{
    slotwork_queue *queue = NULL;
    slotwork_configuration configuration = configuration_of(design, workers, requests);
    slotwork_operations operations = operations_of(counts);
    OK(slotwork_create(&configuration, &operations, &queue));
    CHECK(queue);
    CHECK_EQUAL(counts->inits, workers * requests);
    return queue;
}

static slotwork_submitter *submitter_of(slotwork_queue *queue)
{
    slotwork_submitter *submitter = NULL;
    OK(slotwork_submitter_create(queue, &submitter));
    CHECK(submitter);
    return submitter;
}

#define COUNTS {.fail_at = -1}

static void *acquired(slotwork_submitter *submitter)
{
    void *request = NULL;
    OK(slotwork_acquire(submitter, &request));
    CHECK(request);
    return request;
}

static void one_submitter(void)
{
    const char *design;
    for (size_t i = 0; (design = slotwork_design_name(i)); i++) {
        struct counts counts = COUNTS;
        slotwork_queue *queue = create(design, 2, 3, &counts);
        slotwork_submitter *submitter = submitter_of(queue);
        for (long number = 0; number < 300; number++) {
            struct request *request = acquired(submitter);
            request->number = number;
            OK(slotwork_submit(submitter, request));
        }
        OK(slotwork_drain(submitter));
        CHECK_EQUAL(counts.handled, 300);
        CHECK_EQUAL(counts.dones, 300);
        OK(slotwork_submitter_destroy(submitter));
        OK(slotwork_destroy(queue));
        CHECK_EQUAL(counts.uninits, 6);
    }
    CHECK(!slotwork_design_name(SIZE_MAX));
}

struct crowd {
    slotwork_queue *queue;
    atomic_long submitted;
    long each;
    int stops;
};

static void *submit_many(void *opaque)
{
    struct crowd *crowd = opaque;
    slotwork_submitter *submitter = submitter_of(crowd->queue);
    for (long number = 0; number < crowd->each; number++) {
        struct request *request;
        slotwork_status status = slotwork_acquire(submitter, (void **)&request);
        if (status == SLOTWORK_STATUS_OK) {
            request->number = number;
            status = slotwork_submit(submitter, request);
        }
        if (status == SLOTWORK_STATUS_STOPPED && crowd->stops) {
            break;
        }
        CHECK_EQUAL(status, SLOTWORK_STATUS_OK);
        crowd->submitted++;
    }
    OK(slotwork_submitter_destroy(submitter));
    return NULL;
}

static void with_crowd(struct crowd *crowd, void (*meanwhile)(struct crowd *))
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        CHECK(!pthread_create(&threads[i], NULL, submit_many, crowd));
    }
    if (meanwhile) {
        meanwhile(crowd);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

static slotwork_statistics statistics_of(slotwork_queue *queue)
{
    slotwork_statistics statistics = {.size = sizeof statistics};
    OK(slotwork_get_statistics(queue, &statistics));
    return statistics;
}

static void many_submitters(void)
{
    const char *design;
    int many = 0;
    for (size_t i = 0; (design = slotwork_design_name(i)); i++) {
        if (slotwork_design_submitters(design) == 1) {
            continue;
        }
        many++;
        struct counts counts = COUNTS;
        struct crowd crowd = {.queue = create(design, 2, 4, &counts), .each = 1000};
        with_crowd(&crowd, NULL);
        slotwork_submitter *last = submitter_of(crowd.queue);
        OK(slotwork_drain(last));
        CHECK_EQUAL(statistics_of(crowd.queue).handled, 4000);
        CHECK_EQUAL(counts.dones, 4000);
        OK(slotwork_submitter_destroy(last));
        OK(slotwork_destroy(crowd.queue));
        CHECK_EQUAL(counts.uninits, 8);
    }
    CHECK(many >= 2);
}

static void let_some_through(struct crowd *crowd)
{
    while (crowd->submitted < 50) {
        sched_yield();
    }
}

static void *shuts_down_too(void *queue)
{
    OK(slotwork_shutdown(queue));
    return NULL;
}

static void shut_down_now(struct crowd *crowd)
{
    let_some_through(crowd);
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, shuts_down_too, crowd->queue));
    OK(slotwork_shutdown_now(crowd->queue));
    pthread_join(thread, NULL);
    OK(slotwork_shutdown(crowd->queue)); /* JOIN-TWICE */
}

static void shut_down(struct crowd *crowd)
{
    let_some_through(crowd);
    OK(slotwork_shutdown(crowd->queue));
}

/* Whatever the moment: each request that was submitted is handled or cancelled, and its done runs or does not. */
static void shutdown_races(void)
{
    const char *design;
    const int rounds = getenv("CHECKER") ? 2 : 20;
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; (design = slotwork_design_name(i)); i++) {
            if (slotwork_design_submitters(design) == 1) {
                continue;
            }
            struct counts counts = COUNTS;
            struct crowd crowd = {.queue = create(design, 2, 4, &counts), .each = 1 << 30, .stops = 1};
            with_crowd(&crowd, round % 2 ? shut_down : shut_down_now);
            slotwork_statistics statistics = statistics_of(crowd.queue);
            CHECK_EQUAL(statistics.handled + statistics.cancelled, crowd.submitted);
            CHECK_EQUAL(statistics.handled, counts.handled);
            OK(slotwork_destroy(crowd.queue));
            CHECK_EQUAL(counts.handled, counts.dones);
            CHECK_EQUAL(counts.uninits, 8);
        }
    }
}

static void fates_and_withdrawal(void)
{
    struct gate gate = GATE_CLOSED;
    struct counts counts = {.fail_at = -1, .gate = &gate};
    slotwork_queue *queue = create("bitmap-claim", 1, 2, &counts);
    slotwork_submitter *submitter = submitter_of(queue);
    void *first = acquired(submitter), *second = acquired(submitter), *third;
    slotwork_fate fate;
    FAILS(NONE_FREE, slotwork_try_acquire(submitter, &third));
    CHECK(!third);
    OK(slotwork_get_fate(submitter, first, &fate));
    CHECK_EQUAL(fate, SLOTWORK_FATE_FRESH);
    OK(slotwork_withdraw(submitter, second));
    OK(slotwork_try_acquire(submitter, &third));
    CHECK(third == second);
    OK(slotwork_submit(submitter, first));
    OK(slotwork_submit(submitter, third));
    FAILS(TIMEOUT, slotwork_acquire_timeout(submitter, 1000000, &second));
    CHECK(!second);
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, shuts_down_too, queue));
    while (slotwork_try_acquire(submitter, &second) == SLOTWORK_STATUS_OK) {
        CHECK(0); /* both are submitted, and wait at the gate */
    }
    gate_set(&gate, 1);
    pthread_join(thread, NULL);
    OK(slotwork_try_acquire(submitter, &first));
    OK(slotwork_get_fate(submitter, first, &fate));
    CHECK_EQUAL(fate, SLOTWORK_FATE_HANDLED);
    FAILS(STOPPED, slotwork_submit(submitter, first));
    OK(slotwork_submitter_destroy(submitter));
    OK(slotwork_destroy(queue));
}

/* In time, or not: what is too late for one drain is there for the next one. */
static void drain_with_a_timeout(void)
{
    const char *design;
    for (size_t i = 0; (design = slotwork_design_name(i)); i++) {
        struct gate gate = GATE_CLOSED;
        struct counts counts = {.fail_at = -1, .gate = &gate};
        slotwork_queue *queue = create(design, 2, 2, &counts);
        slotwork_submitter *submitter = submitter_of(queue);
        OK(slotwork_drain_timeout(submitter, 0)); /* nothing to wait for */
        OK(slotwork_submit(submitter, acquired(submitter)));
        FAILS(TIMEOUT, slotwork_drain_timeout(submitter, 0));
        FAILS(TIMEOUT, slotwork_drain_timeout(submitter, 2000000));
        CHECK_EQUAL(counts.dones, 0);
        gate_set(&gate, 1);
        OK(slotwork_drain_timeout(submitter, UINT64_MAX));
        CHECK_EQUAL(counts.handled, 1);
        CHECK_EQUAL(counts.dones, 1);
        OK(slotwork_drain_timeout(submitter, 1));
        CHECK_EQUAL(counts.dones, 1);
        OK(slotwork_submitter_destroy(submitter));
        OK(slotwork_destroy(queue));
    }
}

static void *cancels(void *queue)
{
    OK(slotwork_shutdown_now(queue));
    return NULL;
}

static void cancelled_requests_say_so(void)
{
    struct gate gate = GATE_CLOSED;
    struct counts counts = {.fail_at = -1, .gate = &gate};
    slotwork_queue *queue = create("double-list", 1, 4, &counts);
    slotwork_submitter *submitter = submitter_of(queue);
    void *requests[4];
    for (int i = 0; i < 4; i++) {
        requests[i] = acquired(submitter);
    }
    for (int i = 0; i < 4; i++) {
        OK(slotwork_submit(submitter, requests[i]));
    }
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, cancels, queue));
    /* Cancelling has begun when a submit is refused: only then may the first handler go on. */
    usleep(1000);
    gate_set(&gate, 1);
    pthread_join(thread, NULL);
    slotwork_statistics statistics = statistics_of(queue);
    CHECK_EQUAL(statistics.handled + statistics.cancelled, 4);
    long cancelled = 0;
    for (int i = 0; i < 4; i++) {
        slotwork_fate fate;
        void *request = acquired(submitter);
        OK(slotwork_get_fate(submitter, request, &fate));
        cancelled += fate == SLOTWORK_FATE_CANCELLED;
    }
    CHECK_EQUAL(cancelled, statistics.cancelled);
    CHECK_EQUAL(counts.dones, statistics.handled);
    OK(slotwork_destroy(queue)); /* before its submitter */
    CHECK_EQUAL(counts.uninits, 0);
    OK(slotwork_submitter_destroy(submitter));
    CHECK_EQUAL(counts.uninits, 4);
}

static void *uses_it(void *opaque)
{
    struct counts *counts = opaque;
    void *request;
    FAILS(WRONG_THREAD, slotwork_try_acquire(counts->submitter, &request));
    FAILS(WRONG_THREAD, slotwork_drain(counts->submitter));
    FAILS(WRONG_THREAD, slotwork_submitter_destroy(counts->submitter));
    FAILS(ONE_SUBMITTER, slotwork_submitter_create(counts->queue, &counts->submitter));
    return NULL;
}

static void *adopts_it(void *opaque)
{
    struct counts *counts = opaque;
    OK(slotwork_submitter_adopt(counts->submitter));
    OK(slotwork_submit(counts->submitter, acquired(counts->submitter)));
    return NULL;
}

static void in_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, run, argument));
    pthread_join(thread, NULL);
}

/* A second submitter gets an error code, and not a race. */
static void one_submitter_is_enforced(void)
{
    struct counts counts = COUNTS;
    CHECK_EQUAL(slotwork_design_submitters("bitmap"), 1);
    CHECK_EQUAL(slotwork_design_submitters("nonsense"), -1);
    CHECK_EQUAL(slotwork_design_submitters(NULL), -1);
    counts.queue = create("bitmap", 1, 4, &counts);
    slotwork_submitter *submitter = counts.submitter = submitter_of(counts.queue);
    in_thread(uses_it, &counts);
    CHECK(!counts.submitter);
    counts.submitter = submitter;
    in_thread(adopts_it, &counts);
    FAILS(WRONG_THREAD, slotwork_drain(submitter));
    OK(slotwork_submitter_adopt(submitter));
    OK(slotwork_submitter_destroy(submitter));
    for (int i = 0; i < 100; i++) { /* the next one may come then */
        submitter = submitter_of(counts.queue);
        OK(slotwork_submit(submitter, acquired(submitter)));
        OK(slotwork_submitter_destroy(submitter));
    }
    OK(slotwork_destroy(counts.queue));
    CHECK_EQUAL(counts.dones, 101);
}

struct visit {
    struct counts *counts;
    pthread_t thread;
    int adopts;
};

static void *visits(void *opaque)
{
    struct visit *visit = opaque;
    visit->thread = pthread_self();
    if (visit->adopts) {
        OK(slotwork_submitter_adopt(visit->counts->submitter));
    }
    void *request;
    CHECK_EQUAL(see(slotwork_try_acquire(visit->counts->submitter, &request)),
                visit->adopts ? SLOTWORK_STATUS_OK : SLOTWORK_STATUS_WRONG_THREAD);
    return NULL;
}

/* A thread whose memory is where that of an ended one was has no part in what belonged to that one. */
static void a_new_thread_is_not_the_old_one(void)
{
    struct counts counts = COUNTS;
    counts.queue = create("bitmap", 1, 4, &counts);
    counts.submitter = submitter_of(counts.queue);
    void *stack;
    const size_t size = 1 << 20;
    CHECK(!posix_memalign(&stack, 1 << 16, size));
    pthread_attr_t there;
    CHECK(!pthread_attr_init(&there) && !pthread_attr_setstack(&there, stack, size));
    struct visit visit[2] = {{.counts = &counts, .adopts = 1}, {.counts = &counts}};
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        CHECK(!pthread_create(&thread, &there, visits, &visit[i]));
        pthread_join(thread, NULL);
    }
    CHECK(pthread_equal(visit[0].thread, visit[1].thread)); /* its variables are at the same addresses */
    pthread_attr_destroy(&there);
    free(stack);
    OK(slotwork_submitter_adopt(counts.submitter));
    OK(slotwork_submitter_destroy(counts.submitter));
    OK(slotwork_destroy(counts.queue));
}

static void waits_for_itself(void *request, void *context)
{
    (void)request;
    struct counts *counts = context;
    OK(slotwork_submitter_adopt(counts->submitter));
    counts->inside = slotwork_drain(counts->submitter);
    FAILS(INSIDE_HANDLER, slotwork_drain_timeout(counts->submitter, 1));
    FAILS(INSIDE_HANDLER, slotwork_shutdown(counts->queue));
    FAILS(INSIDE_HANDLER, slotwork_destroy(counts->queue));
}

static void destroys_its_submitter(void *request, void *context)
{
    (void)request;
    struct counts *counts = context;
    counts->inside = slotwork_submitter_destroy(counts->submitter);
}

static void refused_inside(void)
{
    struct counts counts = COUNTS;
    slotwork_configuration configuration = configuration_of("bitmap", 1, 1);
    slotwork_operations operations = {
        .size = sizeof operations, .handler = waits_for_itself, .done = destroys_its_submitter, .context = &counts};
    OK(slotwork_create(&configuration, &operations, &counts.queue));
    counts.submitter = submitter_of(counts.queue);
    OK(slotwork_submit(counts.submitter, acquired(counts.submitter)));
    while (!statistics_of(counts.queue).handled) {
        sched_yield();
    }
    CHECK_EQUAL(see(counts.inside), SLOTWORK_STATUS_INSIDE_HANDLER);
    OK(slotwork_submitter_adopt(counts.submitter));
    counts.inside = SLOTWORK_STATUS_OK;
    OK(slotwork_drain(counts.submitter));
    CHECK_EQUAL(counts.inside, SLOTWORK_STATUS_INSIDE_HANDLER);
    OK(slotwork_submitter_destroy(counts.submitter));
    OK(slotwork_destroy(counts.queue));
}

/* Who comes back into a queue or a submitter out of a done, and where that done runs. */
struct return_visit {
    slotwork_queue *queue;
    slotwork_submitter *submitter;
    atomic_long dones;
    int in_submitter_destroy;
};

static void handles_nothing(void *request, void *context)
{
    (void)request;
    (void)context;
}

static void destroys_the_queue(void *request, void *context)
{
    struct return_visit *visit = context;
    FAILS(INSIDE_HANDLER, slotwork_destroy(visit->queue));
    OK(slotwork_get_statistics(visit->queue, &(slotwork_statistics){.size = sizeof(slotwork_statistics)}));
    visit->dones++;
    if (visit->in_submitter_destroy) {
        void *other;
        slotwork_fate fate;
        FAILS(INSIDE_HANDLER, slotwork_submitter_destroy(visit->submitter));
        FAILS(INSIDE_HANDLER, slotwork_try_acquire(visit->submitter, &other));
        FAILS(INSIDE_HANDLER, slotwork_acquire(visit->submitter, &other));
        FAILS(INSIDE_HANDLER, slotwork_submit(visit->submitter, request));
        FAILS(INSIDE_HANDLER, slotwork_withdraw(visit->submitter, request));
        FAILS(INSIDE_HANDLER, slotwork_get_fate(visit->submitter, request, &fate));
        FAILS(INSIDE_HANDLER, slotwork_drain(visit->submitter));
    }
}

static void begin_visit(struct return_visit *visit, const char *design)
{
    slotwork_configuration configuration = configuration_of(design, 1, 2);
    slotwork_operations operations = {
        .size = sizeof operations, .handler = handles_nothing, .done = destroys_the_queue, .context = visit};
    OK(slotwork_create(&configuration, &operations, &visit->queue));
    visit->submitter = submitter_of(visit->queue);
}

/* NESTED-WAIT: out of a done, neither the queue is destroyed that it is called from, nor the submitter; wherever it runs. */
static void destroyed_inside_a_done(void)
{
    const char *design;
    for (size_t i = 0; (design = slotwork_design_name(i)); i++) {
        int one = slotwork_design_submitters(design) == 1;
        enum { IN_DRAIN, IN_SUBMITTER_DESTROY, IN_DESTROY, PLACES };
        for (int place = 0; place < PLACES; place++) {
            struct return_visit visit = {.in_submitter_destroy = place == IN_SUBMITTER_DESTROY && !one};
            begin_visit(&visit, design);
            OK(slotwork_submit(visit.submitter, acquired(visit.submitter)));
            if (place == IN_DRAIN) {
                OK(slotwork_drain(visit.submitter));
                CHECK_EQUAL(visit.dones, 1);
            } else if (place == IN_SUBMITTER_DESTROY) {
                OK(slotwork_shutdown(visit.queue));
                CHECK_EQUAL(visit.dones, 0);
                OK(slotwork_submitter_destroy(visit.submitter));
                CHECK_EQUAL(visit.dones, one ? 0 : 1); /* of a design for one, the end of the queue runs it */
                visit.submitter = NULL;
            } else if (one) {
                OK(slotwork_submitter_destroy(visit.submitter)); /* its client is what the queue collects with */
                visit.submitter = NULL;
            }
            OK(slotwork_destroy(visit.queue));
            CHECK_EQUAL(visit.dones, 1);
            if (visit.submitter) {
                OK(slotwork_submitter_destroy(visit.submitter));
            }
        }
    }
}

static void uses_what_ends(void *request, void *context)
{
    (void)request;
    struct return_visit *visit = context;
    slotwork_submitter *further;
    void *other;
    if (visit->in_submitter_destroy) {
        FAILS(INSIDE_HANDLER, slotwork_try_acquire(visit->submitter, &other));
        FAILS(INSIDE_HANDLER, slotwork_submitter_destroy(visit->submitter));
    } else {
        FAILS(INSIDE_HANDLER, slotwork_destroy(visit->queue));
        FAILS(INSIDE_HANDLER, slotwork_shutdown(visit->queue));
        FAILS(INSIDE_HANDLER, slotwork_submitter_create(visit->queue, &further));
        FAILS(INSIDE_HANDLER, slotwork_get_statistics(visit->queue, &(slotwork_statistics){.size = sizeof(slotwork_statistics)}));
    }
    visit->dones++;
}

/* DROP-DOUBLE: an uninit cannot use what is freed around it, be it the queue or the last submitter. */
static void used_inside_an_uninit(void)
{
    for (int submitter_is_last = 0; submitter_is_last < 2; submitter_is_last++) {
        struct return_visit visit = {.in_submitter_destroy = submitter_is_last};
        slotwork_configuration configuration = configuration_of(NULL, 1, 2);
        slotwork_operations operations = {
            .size = sizeof operations, .handler = handles_nothing, .uninit = uses_what_ends, .context = &visit};
        OK(slotwork_create(&configuration, &operations, &visit.queue));
        visit.submitter = submitter_of(visit.queue);
        if (submitter_is_last) {
            OK(slotwork_destroy(visit.queue));
            OK(slotwork_submitter_destroy(visit.submitter));
        } else {
            OK(slotwork_submitter_destroy(visit.submitter));
            OK(slotwork_destroy(visit.queue));
        }
        CHECK_EQUAL(visit.dones, 2);
    }
}

static void shuts_down_in_done(void *request, void *context)
{
    (void)request;
    struct return_visit *visit = context;
    OK(slotwork_shutdown(visit->queue));
    OK(slotwork_shutdown_now(visit->queue));
    visit->dones++;
}

/* A done may shut its queue down: no worker waits for what it holds. */
static void shut_down_inside_a_done(void)
{
    const char *design;
    for (size_t i = 0; (design = slotwork_design_name(i)); i++) {
        struct return_visit visit = {.queue = NULL};
        slotwork_configuration configuration = configuration_of(design, 2, 4);
        slotwork_operations operations = {
            .size = sizeof operations, .handler = handles_nothing, .done = shuts_down_in_done, .context = &visit};
        OK(slotwork_create(&configuration, &operations, &visit.queue));
        visit.submitter = submitter_of(visit.queue);
        void *requests[8];
        for (int request = 0; request < 8; request++) {
            requests[request] = acquired(visit.submitter);
        }
        for (int request = 0; request < 8; request++) {
            OK(slotwork_submit(visit.submitter, requests[request]));
        }
        OK(slotwork_drain(visit.submitter));
        CHECK_EQUAL(visit.dones, 8);
        OK(slotwork_submitter_destroy(visit.submitter));
        OK(slotwork_destroy(visit.queue));
    }
}

/* What a submitter can still do after the end of its queue, as the header says. */
static void after_the_end(void)
{
    const char *design;
    for (size_t i = 0; (design = slotwork_design_name(i)); i++) {
        int one = slotwork_design_submitters(design) == 1;
        struct counts counts = COUNTS;
        slotwork_queue *queue = create(design, 1, 2, &counts);
        slotwork_submitter *submitter = submitter_of(queue);
        OK(slotwork_submit(submitter, acquired(submitter)));
        OK(slotwork_destroy(queue));
        CHECK_EQUAL(counts.handled, 1);
        CHECK_EQUAL(counts.dones, one ? 0 : 1); /* of a design for one, the submitter runs it */
        void *request, *second, *third;
        OK(slotwork_drain(submitter));
        CHECK_EQUAL(counts.dones, 1);
        OK(slotwork_try_acquire(submitter, &request));
        OK(slotwork_withdraw(submitter, request));
        request = acquired(submitter);
        second = acquired(submitter);
        FAILS(NONE_FREE, slotwork_try_acquire(submitter, &third));
        FAILS(STOPPED, slotwork_acquire(submitter, &third));
        FAILS(STOPPED, slotwork_acquire_timeout(submitter, UINT64_MAX, &third));
        FAILS(STOPPED, slotwork_submit(submitter, request));
        FAILS(NOT_HELD, slotwork_submit(submitter, request)); /* it was given back */
        OK(slotwork_withdraw(submitter, second));
        OK(slotwork_submitter_destroy(submitter));
        CHECK_EQUAL(counts.uninits, 2);
    }
}

struct two_drains {
    slotwork_submitter *submitter;
    slotwork_queue *queue;
    struct gate gate;
    atomic_int in_done;
};

static void done_waits_at_the_gate(void *request, void *context)
{
    (void)request;
    struct two_drains *drains = context;
    drains->in_done = 1;
    gate_pass(&drains->gate);
}

static void *drains_it(void *opaque)
{
    struct two_drains *drains = opaque;
    slotwork_submitter *submitter = submitter_of(drains->queue);
    OK(slotwork_drain(submitter));
    OK(slotwork_submitter_destroy(submitter));
    return NULL;
}

/* While one thread's drain runs a done, it keeps that request alone: others get the rest, and another drain returns. */
static void a_done_in_a_drain_keeps_one_request(void)
{
    const char *design;
    for (size_t i = 0; (design = slotwork_design_name(i)); i++) {
        if (slotwork_design_submitters(design) == 1) {
            continue;
        }
        struct two_drains drains = {.gate = GATE_CLOSED};
        slotwork_configuration configuration = configuration_of(design, 1, 4);
        slotwork_operations operations = {
            .size = sizeof operations, .handler = handles_nothing, .done = done_waits_at_the_gate, .context = &drains};
        OK(slotwork_create(&configuration, &operations, &drains.queue));
        drains.submitter = submitter_of(drains.queue);
        OK(slotwork_submit(drains.submitter, acquired(drains.submitter)));
        pthread_t thread;
        CHECK(!pthread_create(&thread, NULL, drains_it, &drains));
        while (!drains.in_done) {
            sched_yield();
        }
        OK(slotwork_drain(drains.submitter)); /* its done is under way still */
        void *requests[3], *further;
        for (int request = 0; request < 3; request++) {
            OK(slotwork_try_acquire(drains.submitter, &requests[request]));
        }
        FAILS(NONE_FREE, slotwork_try_acquire(drains.submitter, &further));
        gate_set(&drains.gate, 1);
        pthread_join(thread, NULL);
        OK(slotwork_submitter_destroy(drains.submitter));
        OK(slotwork_destroy(drains.queue));
    }
}

static void misused_requests(void)
{
    struct counts counts = COUNTS, others = COUNTS;
    slotwork_queue *queue = create("bitmap-claim", 1, 4, &counts), *other = create("bitmap-claim", 1, 4, &others);
    slotwork_submitter *submitter = submitter_of(queue), *second = submitter_of(queue), *third = submitter_of(other);
    char *request = acquired(submitter);
    slotwork_fate fate;
    FAILS(FOREIGN_REQUEST, slotwork_submit(submitter, NULL));
    FAILS(FOREIGN_REQUEST, slotwork_submit(submitter, &fate));
    FAILS(FOREIGN_REQUEST, slotwork_submit(submitter, request + 1));
    FAILS(FOREIGN_REQUEST, slotwork_submit(submitter, request + (1 << 20)));
    FAILS(FOREIGN_REQUEST, slotwork_submit(third, request));
    FAILS(NOT_HELD, slotwork_submit(second, request));
    FAILS(NOT_HELD, slotwork_withdraw(second, request));
    FAILS(NOT_HELD, slotwork_get_fate(second, request, &fate));
    CHECK(strstr(slotwork_last_error(), "slotwork_get_fate: the request is not held"));
    OK(slotwork_submit(submitter, request));
    FAILS(NOT_HELD, slotwork_submit(submitter, request)); /* DOUBLE-RELEASE, STALE-KEY-OK */
    OK(slotwork_drain(submitter));
    FAILS(NOT_HELD, slotwork_submit(submitter, request));
    OK(slotwork_submitter_destroy(submitter));
    OK(slotwork_submitter_destroy(second));
    OK(slotwork_submitter_destroy(third));
    OK(slotwork_destroy(queue));
    OK(slotwork_destroy(other));
    CHECK_EQUAL(counts.handled, 1);
}

static void null_arguments(void)
{
    struct counts counts = COUNTS;
    slotwork_configuration configuration = configuration_of(NULL, 1, 1);
    slotwork_operations operations = operations_of(&counts);
    slotwork_queue *queue = (slotwork_queue *)&counts;
    FAILS(NULL, slotwork_create(NULL, &operations, &queue));
    CHECK(!queue);
    FAILS(NULL, slotwork_create(&configuration, NULL, &queue));
    FAILS(NULL, slotwork_create(&configuration, &operations, NULL));
    operations.handler = NULL;
    FAILS(NULL, slotwork_create(&configuration, &operations, &queue));
    CHECK(strstr(slotwork_last_error(), "no handler"));
    slotwork_submitter *submitter;
    void *request;
    FAILS(NULL, slotwork_destroy(NULL));
    FAILS(NULL, slotwork_shutdown(NULL));
    FAILS(NULL, slotwork_shutdown_now(NULL));
    FAILS(NULL, slotwork_get_statistics(NULL, NULL));
    FAILS(NULL, slotwork_submitter_create(NULL, &submitter));
    FAILS(NULL, slotwork_submitter_create(NULL, NULL));
    FAILS(NULL, slotwork_submitter_adopt(NULL));
    FAILS(NULL, slotwork_submitter_destroy(NULL));
    FAILS(NULL, slotwork_try_acquire(NULL, &request));
    FAILS(NULL, slotwork_acquire(NULL, &request));
    FAILS(NULL, slotwork_acquire_timeout(NULL, 1, &request));
    FAILS(NULL, slotwork_submit(NULL, NULL));
    FAILS(NULL, slotwork_withdraw(NULL, NULL));
    FAILS(NULL, slotwork_get_fate(NULL, NULL, NULL));
    FAILS(NULL, slotwork_drain(NULL));
    FAILS(NULL, slotwork_drain_timeout(NULL, 1));
    queue = create(NULL, 1, 1, &counts);
    submitter = submitter_of(queue);
    FAILS(NULL, slotwork_try_acquire(submitter, NULL));
    FAILS(NULL, slotwork_get_statistics(queue, NULL));
    FAILS(NULL, slotwork_submitter_create(queue, NULL));
    request = acquired(submitter);
    FAILS(NULL, slotwork_get_fate(submitter, request, NULL));
    OK(slotwork_submit(submitter, request));
    OK(slotwork_submitter_destroy(submitter));
    OK(slotwork_destroy(queue));
    CHECK_EQUAL(counts.dones, 1);
}

static slotwork_status created(slotwork_configuration configuration)
{
    struct counts counts = COUNTS;
    slotwork_operations operations = operations_of(&counts);
    slotwork_queue *queue = (slotwork_queue *)&counts;
    slotwork_status status = slotwork_create(&configuration, &operations, &queue);
    CHECK_EQUAL(queue != NULL, status == SLOTWORK_STATUS_OK);
    if (queue) {
        OK(slotwork_destroy(queue));
    }
    CHECK_EQUAL(counts.inits, counts.uninits);
    return status;
}

static void configurations(void)
{
    slotwork_configuration good = configuration_of(NULL, 2, 4), bad;
    OK(created(good));
    OK(created((slotwork_configuration){.size = sizeof good, .request_size = sizeof(struct request)}));
    /* Never set; a pointer's; one that cuts a field. */
    const size_t wrong[] = {0, 1, sizeof(void *), sizeof good - 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bad = good, bad.size = wrong[i];
        FAILS(CONFIGURATION, created(bad));
        struct counts counts = COUNTS;
        slotwork_operations operations = operations_of(&counts);
        slotwork_queue *queue;
        operations.size = wrong[i];
        FAILS(CONFIGURATION, slotwork_create(&good, &operations, &queue));
        CHECK_EQUAL(counts.inits, 0);
    }
    bad = good, bad.waiting = 5;
    FAILS(CONFIGURATION, created(bad));
    CHECK(strstr(slotwork_last_error(), "slotwork_create: 5 is no slotwork_waiting"));
    bad = good, bad.dispatch = 2;
    FAILS(CONFIGURATION, created(bad));
    bad = good, bad.design = "nonsense";
    FAILS(UNKNOWN_DESIGN, created(bad));
    CHECK(strstr(slotwork_last_error(), "bitmap"));
    bad = good, bad.workers = 1u << 31;
    FAILS(SHAPE, created(bad));
    bad = good, bad.requests_per_worker = 65, bad.design = "bitmap";
    FAILS(SHAPE, created(bad));
    bad = good, bad.request_size = SIZE_MAX / 4;
    FAILS(MEMORY, created(bad));
    bad = good, bad.request_size = (size_t)1 << 50;
    FAILS(MEMORY, created(bad));
    struct {
        slotwork_configuration known;
        uint64_t later;
    } newer = {good, 0};
    newer.known.size = sizeof newer;
    struct counts counts = COUNTS;
    slotwork_operations operations = operations_of(&counts);
    slotwork_queue *queue;
    OK(slotwork_create(&newer.known, &operations, &queue));
    OK(slotwork_destroy(queue));
    newer.later = 1;
    FAILS(CONFIGURATION, slotwork_create(&newer.known, &operations, &queue));
    counts = (struct counts)COUNTS;
    queue = create(NULL, 1, 1, &counts);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        slotwork_statistics statistics = {.size = wrong[i], .handled = 7};
        if (wrong[i] < sizeof statistics || wrong[i] == SIZE_MAX) {
            FAILS(CONFIGURATION, slotwork_get_statistics(queue, &statistics));
            CHECK_EQUAL(statistics.handled, 7);
        }
    }
    OK(slotwork_destroy(queue));
    setenv("SLOTWORK_DESIGN", "bit\377map", 1);
    FAILS(CONFIGURATION, created(good));
    CHECK(strstr(slotwork_last_error(), "slotwork_create: SLOTWORK_DESIGN is not UTF-8"));
    unsetenv("SLOTWORK_DESIGN");
    int refused = 0;
    const char *design;
    for (size_t i = 0; (design = slotwork_design_name(i)); i++) {
        bad = good, bad.design = design, bad.dispatch = SLOTWORK_DISPATCH_FILL_FIRST;
        slotwork_status status = see(created(bad));
        CHECK(status == SLOTWORK_STATUS_OK || status == SLOTWORK_STATUS_DISPATCH);
        refused += status == SLOTWORK_STATUS_DISPATCH;
    }
    CHECK(refused > 0);
    for (uint32_t waiting = 0; waiting <= SLOTWORK_WAITING_BUSY1000; waiting++) {
        bad = good, bad.waiting = waiting;
        OK(created(bad));
    }
}

static void init_fails_at_every_index(void)
{
    for (long at = 0; at < 6; at++) {
        struct counts counts = {.fail_at = at};
        slotwork_configuration configuration = configuration_of("double-list", 2, 3);
        slotwork_operations operations = operations_of(&counts);
        slotwork_queue *queue;
        FAILS(INIT, slotwork_create(&configuration, &operations, &queue));
        CHECK(!queue);
        CHECK(strstr(slotwork_last_error(), "returned -7"));
        CHECK_EQUAL(counts.inits, at + 1);
        CHECK_EQUAL(counts.uninits, at);
    }
}

static void too_many_submitters(void)
{
    struct counts counts = COUNTS;
    int limit = slotwork_design_submitters("bitmap-owned");
    CHECK(limit > 1);
    slotwork_queue *queue = create("bitmap-owned", 1, 1, &counts);
    slotwork_submitter *submitters[limit], *further;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < limit; i++) {
            submitters[i] = submitter_of(queue);
        }
        FAILS(TOO_MANY_SUBMITTERS, slotwork_submitter_create(queue, &further));
        CHECK(!further);
        for (int i = 0; i < limit; i++) {
            OK(slotwork_submitter_destroy(submitters[i]));
        }
    }
    OK(slotwork_destroy(queue));
}

/* There is room for the queue, and not for the stacks of so many threads. */
static void threads_that_cannot_be_started(void)
{
    pid_t child = fork();
    if (child == 0) {
        long pages = 0;
        FILE *file = fopen("/proc/self/statm", "r");
        CHECK(file && fscanf(file, "%ld", &pages) == 1);
        fclose(file);
        rlim_t room = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (64 << 20);
        CHECK(!setrlimit(RLIMIT_AS, &(struct rlimit){room, room}));
        slotwork_configuration configuration = configuration_of(NULL, 1000, 1);
        _exit(created(configuration));
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    see(WEXITSTATUS(status));
    CHECK_EQUAL(WEXITSTATUS(status), SLOTWORK_STATUS_THREAD);
}

/* FORK: what a submitter holds stays held in the child. To withdraw it there may wait for a lock that nobody has there. */
static void a_forked_submitter_withdraws_nothing(void)
{
    struct counts counts = COUNTS;
    slotwork_queue *queue = create("bitmap-claim", 1, 1, &counts);
    slotwork_submitter *submitter = submitter_of(queue), *other = submitter_of(queue);
    void *request = acquired(submitter), *none;
    pid_t child = fork();
    if (child == 0) {
        CHECK_EQUAL(slotwork_submitter_destroy(submitter), SLOTWORK_STATUS_OK);
        CHECK_EQUAL(slotwork_try_acquire(other, &none), SLOTWORK_STATUS_NONE_FREE);
        CHECK_EQUAL(slotwork_acquire(other, &none), SLOTWORK_STATUS_FORKED);
        CHECK_EQUAL(slotwork_destroy(queue), SLOTWORK_STATUS_FORKED);
        CHECK_EQUAL(slotwork_submitter_destroy(other), SLOTWORK_STATUS_OK);
        _exit(counts.uninits);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(slotwork_submit(submitter, request));
    OK(slotwork_submitter_destroy(other));
    OK(slotwork_submitter_destroy(submitter));
    OK(slotwork_destroy(queue));
    CHECK_EQUAL(counts.dones, 1);
}

/* FORK */
static void forked(void)
{
    struct counts counts = COUNTS;
    slotwork_queue *queue = create(NULL, 1, 1, &counts);
    slotwork_submitter *submitter = submitter_of(queue);
    pid_t child = fork();
    if (child == 0) {
        CHECK_EQUAL(slotwork_drain(submitter), SLOTWORK_STATUS_FORKED);
        CHECK_EQUAL(slotwork_shutdown(queue), SLOTWORK_STATUS_FORKED);
        _exit(slotwork_destroy(queue));
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    FAILS(FORKED, WEXITSTATUS(status));
    OK(slotwork_submitter_destroy(submitter));
    OK(slotwork_destroy(queue));
}

/* Found out in a debug build only. */
static void debug_dead_handles(void)
{
    struct counts counts = COUNTS;
    slotwork_queue *queue = create(NULL, 1, 1, &counts);
    slotwork_submitter *submitter = submitter_of(queue);
    OK(slotwork_submitter_destroy(submitter));
    FAILS(DEAD_HANDLE, slotwork_drain(submitter));
    FAILS(DEAD_HANDLE, slotwork_drain_timeout(submitter, 1));
    FAILS(DEAD_HANDLE, slotwork_submitter_destroy(submitter));
    FAILS(DEAD_HANDLE, slotwork_drain((slotwork_submitter *)&counts));
    OK(slotwork_destroy(queue));
    FAILS(DEAD_HANDLE, slotwork_shutdown(queue));
    FAILS(DEAD_HANDLE, slotwork_destroy(queue));
    enum { QUEUES = 16 };
    slotwork_queue *dead[QUEUES], *later[QUEUES];
    for (int i = 0; i < QUEUES; i++) {
        counts = (struct counts)COUNTS;
        dead[i] = create(NULL, 1, 1, &counts);
    }
    for (int i = 0; i < QUEUES; i++) {
        OK(slotwork_destroy(dead[i]));
    }
    for (int i = 0; i < QUEUES; i++) { /* in memory that was just given back */
        counts = (struct counts)COUNTS;
        later[i] = create(NULL, 1, 1, &counts);
    }
    for (int i = 0; i < QUEUES; i++) {
        FAILS(DEAD_HANDLE, slotwork_shutdown(dead[i]));
        FAILS(DEAD_HANDLE, slotwork_destroy(dead[i]));
    }
    for (int i = 0; i < QUEUES; i++) {
        OK(slotwork_destroy(later[i]));
    }
}

static void texts(void)
{
    for (int i = 0; i < STATUSES; i++) {
        for (int j = 0; j < i; j++) {
            CHECK(strcmp(slotwork_status_text(i), slotwork_status_text(j)) != 0);
        }
    }
    CHECK(!strcmp(slotwork_status_text(STATUSES), "unknown status"));
    CHECK(!strcmp(slotwork_status_text(-1), "unknown status"));
}

/* Every status is provoked by one of the tests above, but the one that only a fault of the library would give. */
static void each_status(void)
{
    fates_and_withdrawal();
    one_submitter_is_enforced();
    refused_inside();
    destroyed_inside_a_done();
    misused_requests();
    null_arguments();
    configurations();
    init_fails_at_every_index();
    too_many_submitters();
    if (getenv("CHECKER")) {
        /* Under a memory checker the address space cannot be limited, and a forked process leaks its threads' memory. */
        seen[SLOTWORK_STATUS_THREAD] = seen[SLOTWORK_STATUS_FORKED] = 1;
    } else {
        threads_that_cannot_be_started();
        forked();
        a_forked_submitter_withdraws_nothing();
    }
    for (int i = 0; i < STATUSES; i++) {
        if (i == SLOTWORK_STATUS_INTERNAL || i == SLOTWORK_STATUS_DEAD_HANDLE) {
            continue;
        }
        if (!seen[i]) {
            fprintf(stderr, "not provoked: %s\n", slotwork_status_text(i));
            exit(1);
        }
    }
}

#define TEST(name) {#name, name}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(one_submitter), TEST(many_submitters), TEST(shutdown_races), TEST(cancelled_requests_say_so),
        TEST(destroyed_inside_a_done), TEST(used_inside_an_uninit), TEST(shut_down_inside_a_done), TEST(after_the_end), TEST(a_done_in_a_drain_keeps_one_request),
        TEST(drain_with_a_timeout), TEST(a_new_thread_is_not_the_old_one), TEST(each_status), TEST(texts), TEST(debug_dead_handles),
    };
    return run_named(tests, sizeof tests / sizeof *tests, argc, argv);
}
