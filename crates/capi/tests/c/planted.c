/* Bugs of a program, planted for the memory checkers to find. Not run by the plain tests. */
#include "check.h"
#include "threaded-workqueue.h"

static void handler(void *request)
{
    *(char *)request = 1;
}

static int leaking_init(void *request)
{
    *(void **)request = malloc(100);
    return 0;
}

static ThreadedWorkqueueOps ops = {.thread_request_handler = handler, .request_size = 64};

static void use_after_destroy(void)
{
    Threads *queue = threaded_workqueue_create("planted", 1, 1, &ops);
    char *request = threaded_workqueue_get_request(queue);
    threaded_workqueue_destroy(queue);
    *request = 1;
}

static void write_before_start(void)
{
    Threads *queue = threaded_workqueue_create("planted", 1, 1, &ops);
    char *request = threaded_workqueue_get_request(queue);
    request[-1] = 1;
    threaded_workqueue_destroy(queue);
}

/* There is no uninit to free what init made. */
static void leaked_by_init(void)
{
    ops.thread_request_init = leaking_init;
    threaded_workqueue_destroy(threaded_workqueue_create("planted", 1, 1, &ops));
}

#define TEST(name) {#name, name}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST(use_after_destroy), TEST(write_before_start), TEST(leaked_by_init)};
    return run_named(tests, sizeof tests / sizeof *tests, argc, argv);
}
