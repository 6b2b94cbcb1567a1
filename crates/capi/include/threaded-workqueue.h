/* threaded-workqueue.h: worker threads with preallocated requests, source compatible with the interface of 2018.
 *
 * One thread at a time submits: gets a free request, fills it and submits it. A handler works on it on a worker thread.
 * Made by cbindgen from the library's sources: do not edit.
 *
 * Misuse ends the program with the name of the call on standard error: a null workqueue, a request that was not got or was
 * submitted already, waiting or destroying from within a callback. A debug build also finds out two threads that
 * submit at the same time, and a workqueue that was destroyed.
 */

#ifndef THREADED_WORKQUEUE_H
#define THREADED_WORKQUEUE_H

#include <stddef.h>

/*
 A usual number of requests for each thread.
 */
#define DEFAULT_THREAD_REQUEST_NR 4

/*
 A workqueue. One thread at a time submits.
 */
typedef struct Threads Threads;

/*
 What a program wants called, and how large its requests are. Each but the handler may be NULL.
 */
typedef struct ThreadedWorkqueueOps {
    /*
     Called with each request, zeroed, while the workqueue is created. A negative answer is a failure: what had
     been initialised is uninitialised, and nothing is created.
     */
    int (*thread_request_init)(void *request);
    /*
     Called once with each request that was initialised, at the latest by the time that the workqueue is destroyed. It must
     not use the workqueue.
     */
    void (*thread_request_uninit)(void *request);
    /*
     Called on a worker thread, once for each submitted request.
     */
    void (*thread_request_handler)(void *request);
    /*
     Called on the submitter's thread, once for each handled request: when its memory is got again, or while
     waiting for requests, or while the workqueue is destroyed.
     */
    void (*thread_request_done)(void *request);
    /*
     Bytes of one request; may be 0.
     */
    size_t request_size;
} ThreadedWorkqueueOps;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Creates `threads_nr` worker threads, named after `name`, with `thread_requests_nr` requests (1 to 64) for each.
 Requests are zeroed and aligned as malloc's memory is.

 NULL on failure; `slotwork_last_error` of slotwork.h says why.

 The environment may choose another design (`SLOTWORK_DESIGN`: a name from `slotwork_design_name`), way of waiting
 (`SLOTWORK_WAITING`: settle, spin, yield, park, busy-1000) and dispatch (`SLOTWORK_DISPATCH`: round-robin, fill-first).

 No callback may be left by longjmp or an exception.
 */
struct Threads *threaded_workqueue_create(const char *name,
                                          unsigned int threads_nr,
                                          unsigned int thread_requests_nr,
                                          const struct ThreadedWorkqueueOps *ops);

/*
 Handles what was submitted, runs what is to be run when requests are done, ends the threads, uninitialises all
 requests and frees everything. What runs when a request is done may submit what the program holds meanwhile, which is
 handled too; none is free for it. Not to be called by a handler, nor by what runs when a request is done. NULL is ignored.
 In a process that was forked it does nothing.
 */
void threaded_workqueue_destroy(struct Threads *threads);

/*
 A free request, or NULL when none is free: never waits. Its memory is as the last handler left it, after
 what runs when it is done has run.
 */
void *threaded_workqueue_get_request(struct Threads *threads);

/*
 Hands a request to the threads; it must have been got from `threaded_workqueue_get_request`, and not been
 submitted since: everything else is found out, named on standard error, and ends the program.
 */
void threaded_workqueue_submit_request(struct Threads *threads, void *request);

/*
 Waits until all that was submitted before has been handled, and runs what is to be run when a request is done. Not to be
 called by a handler, nor by what runs when a request is done.
 */
void threaded_workqueue_wait_for_requests(struct Threads *threads);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* THREADED_WORKQUEUE_H */
