/* many_submitters.c: several threads submit to one queue through slotwork.h, each with a submitter of its own.
 *
 *   many_submitters [DESIGN]
 *
 * Each thread sums the squares that its own requests come back with; what comes back to it may be another's.
 * Build lines are in crates/capi/README.md.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "slotwork.h"

#define SUBMITTERS 4
#define EACH 100000

struct square {
    unsigned long long number, result;
};

static void fail(const char *call)
{
    fprintf(stderr, "%s failed: %s\n", call, slotwork_last_error());
    exit(1);
}

#define TRY(call)                               \
    do {                                        \
        if ((call) != SLOTWORK_STATUS_OK) {     \
            fail(#call);                        \
        }                                       \
    } while (0)

/* On a worker thread. */
static void square_handler(void *opaque, void *context)
{
    struct square *square = opaque;
    (void)context;
    square->result = square->number * square->number;
}

/* What each submitting thread has collected: done runs on the thread that gets the request again. */
static _Thread_local unsigned long long sum;

static void square_done(void *opaque, void *context)
{
    struct square *square = opaque;
    (void)context;
    sum += square->result;
}

static void *submit_all(void *queue)
{
    slotwork_submitter *submitter;
    TRY(slotwork_submitter_create(queue, &submitter));
    for (unsigned long long number = 1; number <= EACH; number++) {
        void *request;
        TRY(slotwork_acquire(submitter, &request)); /* sleeps while none is free */
        ((struct square *)request)->number = number;
        TRY(slotwork_submit(submitter, request));
    }
    TRY(slotwork_drain(submitter));
    TRY(slotwork_submitter_destroy(submitter));
    unsigned long long *collected = malloc(sizeof *collected);
    if (!collected) {
        exit(1);
    }
    *collected = sum;
    return collected;
}

int main(int argc, char **argv)
{
    slotwork_configuration configuration = {
        .size = sizeof configuration,
        .name = "squares",
        .design = argc > 1 ? argv[1] : NULL,
        .workers = 2,
        .requests_per_worker = 16,
        .request_size = sizeof(struct square),
    };
    slotwork_operations operations = {.size = sizeof operations, .handler = square_handler, .done = square_done};
    slotwork_queue *queue;
    TRY(slotwork_create(&configuration, &operations, &queue));

    pthread_t threads[SUBMITTERS];
    for (int i = 0; i < SUBMITTERS; i++) {
        if (pthread_create(&threads[i], NULL, submit_all, queue)) {
            return 1;
        }
    }
    unsigned long long collected = 0;
    for (int i = 0; i < SUBMITTERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        collected += *(unsigned long long *)result;
        free(result);
    }
    TRY(slotwork_shutdown(queue));
    slotwork_statistics statistics = {.size = sizeof statistics};
    TRY(slotwork_get_statistics(queue, &statistics));
    TRY(slotwork_destroy(queue));
    collected += sum; /* what was left is collected here */

    unsigned long long expected = (unsigned long long)EACH * (EACH + 1) * (2ULL * EACH + 1) / 6 * SUBMITTERS;
    printf("handled=%llu sum=%llu expected=%llu\n", (unsigned long long)statistics.handled, collected, expected);
    return collected != expected || statistics.handled != (unsigned long long)SUBMITTERS * EACH;
}
