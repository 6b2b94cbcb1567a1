/* A program whose tests are wrong: the harness has to see it. */
#include "check.h"
#include "threaded-workqueue.h"

#include <signal.h>

static atomic_long handled;

static void handler(void *request)
{
    (void)request;
    handled++;
}

static void wrong_count(void)
{
    ThreadedWorkqueueOps ops = {.thread_request_handler = handler};
    Threads *queue = threaded_workqueue_create("bad", 1, 1, &ops);
    threaded_workqueue_submit_request(queue, threaded_workqueue_get_request(queue));
    threaded_workqueue_destroy(queue);
    CHECK_EQUAL(handled, 2);
}

static void crash(void)
{
    raise(SIGSEGV);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {{"wrong_count", wrong_count}, {"crash", crash}};
    return run_named(tests, sizeof tests / sizeof *tests, argc, argv);
}
