/* slotwork.h: request queues with worker threads, over any design of the catalog.
 *
 * A submitter acquires a free request, fills it and submits it; a worker's handler handles it; the request is free
 * again, with its result in it. Made by cbindgen from the library's sources: do not edit.
 *
 * Every function returns a status, and does nothing when it is misused: a null pointer, a pointer that is no request
 * of the queue, a request that is not held (submitted twice, withdrawn, another's), a submitter of another thread. What is
 * found out in a debug build only: a handle that was destroyed, or never was one; a debug build also prints each misuse.
 * What is never found out: a request that is still written to after its submit; two threads that destroy one handle at once.
 *
 * A process that was forked has no workers. There, what drains, shuts down or destroys a queue returns SLOTWORK_STATUS_FORKED, and so
 * does what would wait for a request; slotwork_submitter_destroy frees the handle alone; the names and texts are there.
 * Everything else may wait for ever: a thread that is not there may have held a lock.
 */

#ifndef SLOTWORK_H
#define SLOTWORK_H

#include <stddef.h>
#include <stdint.h>

/*
 What became of a call.
 */
typedef enum {
    /*
     It did what was asked.
     */
    SLOTWORK_STATUS_OK = 0,
    /*
     An argument that may not be null is.
     */
    SLOTWORK_STATUS_NULL = 1,
    /*
     A structure's size is smaller than it ever was, a field that is not known is not zero, a value is none of
     its enumeration, or a variable of the environment is not UTF-8.
     */
    SLOTWORK_STATUS_CONFIGURATION = 2,
    /*
     There is no design of that name.
     */
    SLOTWORK_STATUS_UNKNOWN_DESIGN = 3,
    /*
     So many workers or requests cannot be had, or not with this design.
     */
    SLOTWORK_STATUS_SHAPE = 4,
    /*
     The design cannot dispatch so.
     */
    SLOTWORK_STATUS_DISPATCH = 5,
    /*
     There is not so much memory.
     */
    SLOTWORK_STATUS_MEMORY = 6,
    /*
     A worker thread could not be started.
     */
    SLOTWORK_STATUS_THREAD = 7,
    /*
     `init` refused a request. What had been initialised was uninitialised.
     */
    SLOTWORK_STATUS_INIT = 8,
    /*
     The design takes one submitter, and it has one.
     */
    SLOTWORK_STATUS_ONE_SUBMITTER = 9,
    /*
     The design takes no more submitters at once.
     */
    SLOTWORK_STATUS_TOO_MANY_SUBMITTERS = 10,
    /*
     No request is free now.
     */
    SLOTWORK_STATUS_NONE_FREE = 11,
    /*
     The time ran out.
     */
    SLOTWORK_STATUS_TIMEOUT = 12,
    /*
     The queue was shut down.
     */
    SLOTWORK_STATUS_STOPPED = 13,
    /*
     A handler, or what runs when it is done, may not do this to its own queue: it would wait for itself, or destroy what
     it is called from.
     */
    SLOTWORK_STATUS_INSIDE_HANDLER = 14,
    /*
     The process was forked from the one that has the workers.
     */
    SLOTWORK_STATUS_FORKED = 15,
    /*
     The pointer is no request of this queue.
     */
    SLOTWORK_STATUS_FOREIGN_REQUEST = 16,
    /*
     The request is not held by this submitter: it was submitted or withdrawn already, or another has it.
     */
    SLOTWORK_STATUS_NOT_HELD = 17,
    /*
     The submitter belongs to another thread.
     */
    SLOTWORK_STATUS_WRONG_THREAD = 18,
    /*
     The handle was destroyed, or never was one. Only a debug build finds this out.
     */
    SLOTWORK_STATUS_DEAD_HANDLE = 19,
    /*
     The library failed. Nothing is known of the queue any more.
     */
    SLOTWORK_STATUS_INTERNAL = 20,
} slotwork_status;

/*
 What became of a request.
 */
typedef enum {
    /*
     It was never submitted.
     */
    SLOTWORK_FATE_FRESH = 0,
    /*
     Its handler returned.
     */
    SLOTWORK_FATE_HANDLED = 1,
    /*
     It was cancelled by a shutdown.
     */
    SLOTWORK_FATE_CANCELLED = 2,
} slotwork_fate;

/*
 How threads wait when there is nothing for them.
 */
typedef enum {
    /*
     64 looks, 32 yields, then sleep.
     */
    SLOTWORK_WAITING_SETTLE = 0,
    /*
     Look for ever: a core for each thread.
     */
    SLOTWORK_WAITING_SPIN = 1,
    /*
     64 looks, then yield for ever.
     */
    SLOTWORK_WAITING_YIELD = 2,
    /*
     64 looks, then sleep.
     */
    SLOTWORK_WAITING_PARK = 3,
    /*
     1000 looks, then sleep: as in 2018.
     */
    SLOTWORK_WAITING_BUSY1000 = 4,
} slotwork_waiting;

/*
 How submitters go on from worker to worker.
 */
typedef enum {
    /*
     To the next worker after each request.
     */
    SLOTWORK_DISPATCH_ROUND_ROBIN = 0,
    /*
     Stays with a worker until its requests are all in use.
     */
    SLOTWORK_DISPATCH_FILL_FIRST = 1,
} slotwork_dispatch;

/*
 A queue with its worker threads. May be used by all threads at once.
 */
typedef struct slotwork_queue slotwork_queue;

/*
 What one thread submits with. It belongs to the thread that created it, until another adopts it.
 */
typedef struct slotwork_submitter slotwork_submitter;

/*
 What can be chosen of a queue. Set `size` to its size (a smaller one is refused), leave zero what is not chosen:
 `slotwork_configuration c = { .size = sizeof c, .workers = 4 };`
 */
typedef struct {
    /*
     `sizeof(slotwork_configuration)`: later versions have more fields.
     */
    size_t size;
    /*
     Threads are named after it; NULL: "slotwork".
     */
    const char *name;
    /*
     A name from `slotwork_design_name`; NULL: what the environment's `SLOTWORK_DESIGN` says, else bitmap-claim.
     */
    const char *design;
    /*
     Bytes of one request; may be 0.
     */
    size_t request_size;
    /*
     Worker threads; 0: one.
     */
    uint32_t workers;
    /*
     Requests for each worker; 0: four.
     */
    uint32_t requests_per_worker;
    /*
     A `slotwork_waiting`.
     */
    uint32_t waiting;
    /*
     A `slotwork_dispatch`.
     */
    uint32_t dispatch;
} slotwork_configuration;

/*
 What a program wants called. Each but the handler may be NULL; each gets the context after the request. No
 callback may be left by longjmp or an exception.
 */
typedef struct {
    /*
     `sizeof(slotwork_operations)`: later versions have more fields.
     */
    size_t size;
    /*
     Called with each request, zeroed, while the queue is created. A negative answer is a failure: what had been
     initialised is uninitialised, and nothing is created.
     */
    int (*init)(void *request, void *context);
    /*
     Called once with each request that was initialised, with the end of the queue and of its last submitter. It must not
     use them.
     */
    void (*uninit)(void *request, void *context);
    /*
     Called on a worker thread, once for each submitted request that is not cancelled.
     */
    void (*handler)(void *request, void *context);
    /*
     Called on a submitter's side, once for each handled request: when its memory is acquired again, in a drain, as a
     submitter is destroyed, or at the end of the queue. It may use the submitter that it is called from, but not wait with it.
     */
    void (*done)(void *request, void *context);
    /*
     Handed to each of them.
     */
    void *context;
} slotwork_operations;

/*
 Counts of a queue since it was created; exact after a drain or a shutdown.
 */
typedef struct {
    /*
     `sizeof(slotwork_statistics)`: later versions have more fields.
     */
    size_t size;
    /*
     Requests whose handler returned.
     */
    uint64_t handled;
    /*
     Requests that a shutdown cancelled.
     */
    uint64_t cancelled;
    /*
     Sleeping workers that were woken.
     */
    uint64_t worker_wakes;
    /*
     Sleeping submitters that were woken.
     */
    uint64_t submitter_wakes;
} slotwork_statistics;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Describes a status. Never NULL.
 */
const char *slotwork_status_text(int status);

/*
 The calling thread's last failure in words, with the name of the call; good until its next failure. "No request is
 free" and "the time ran out" are not kept. Never NULL.
 */
const char *slotwork_last_error(void);

/*
 The name of the design of this number, from 0; NULL when there are no more.
 */
const char *slotwork_design_name(size_t number);

/*
 How many submitters a design takes at once: 0 for as many as there is memory for, less the queue's own; and -1
 when there is no such design.
 */
int slotwork_design_submitters(const char *design);

/*
 Creates a queue. Both structures are copied. On failure `*queue` is NULL.
 */
slotwork_status slotwork_create(const slotwork_configuration *configuration,
                                const slotwork_operations *operations,
                                slotwork_queue **queue);

/*
 Handles what is queued, ends the workers, runs `done` for what was handled, and frees the queue. On failure nothing was
 destroyed; so inside of a callback of the queue, `done` too: `SLOTWORK_STATUS_INSIDE_HANDLER`.

 A submitter outlives it, and the requests' memory goes with the last one. To a submitter it is as after
 `slotwork_shutdown`: a submit, and a wait for a request when none is free, return `SLOTWORK_STATUS_STOPPED`;
 all else goes on, so that results can be had: a request that is free can still be acquired and withdrawn, and a drain returns
 at once. (So a loop that never submits does not see the end.) With a design for one submitter, only a submitter
 can run `done`: while there is one, this runs none, and what is owed runs in its calls, at the latest as it is destroyed.
 */
slotwork_status slotwork_destroy(slotwork_queue *queue);

/*
 Handles what is queued, then ends the workers. Blocks. May be called again, and from several threads; by a `done`, but
 not by a handler.
 */
slotwork_status slotwork_shutdown(const slotwork_queue *queue);

/*
 Cancels what is queued, lets running handlers finish, then ends the workers. Blocks. Cuts a
 `slotwork_shutdown` short that is under way.
 */
slotwork_status slotwork_shutdown_now(const slotwork_queue *queue);

/*
 Counts since the creation. Set `statistics->size` before.
 */
slotwork_status slotwork_get_statistics(const slotwork_queue *queue, slotwork_statistics *statistics);

/*
 Makes a submitter, which belongs to the calling thread. With a design for one submitter, a second one is
 refused, until the first is destroyed. On failure `*submitter` is NULL.
 */
slotwork_status slotwork_submitter_create(const slotwork_queue *queue, slotwork_submitter **submitter);

/*
 Moves a submitter to the calling thread. Its last owner must not use it any more, and everything that it did with
 it must happen before this.
 */
slotwork_status slotwork_submitter_adopt(const slotwork_submitter *submitter);

/*
 Destroys a submitter, and withdraws what it holds. What it submitted is handled all the same. A `done` cannot
 destroy the submitter that it is called from, nor use one in whose destruction it runs: `SLOTWORK_STATUS_INSIDE_HANDLER`.

 In a process that was forked it frees the handle, withdraws nothing and runs nothing.
 */
slotwork_status slotwork_submitter_destroy(slotwork_submitter *submitter);

/*
 A free request, if there is one now. Never waits. Its memory is as the last handler left it, after `done`.
 On failure `*request` is NULL.
 */
slotwork_status slotwork_try_acquire(const slotwork_submitter *submitter, void **request);

/*
 A free request; waits until there is one. Inside of a callback of the same queue, and after a shutdown, it fails instead of
 waiting. On failure `*request` is NULL.
 */
slotwork_status slotwork_acquire(const slotwork_submitter *submitter,
                                 void **request);

/*
 As `slotwork_acquire`, for at most so many nanoseconds; then the `done` of the request that it got runs, however long that takes.
 */
slotwork_status slotwork_acquire_timeout(const slotwork_submitter *submitter,
                                         uint64_t nanoseconds,
                                         void **request);

/*
 Hands a request to the workers. Never waits. After a shutdown the request is given back instead, and not held
 any more.
 */
slotwork_status slotwork_submit(const slotwork_submitter *submitter, void *request);

/*
 Gives a request back unsubmitted.
 */
slotwork_status slotwork_withdraw(const slotwork_submitter *submitter, void *request);

/*
 What became of a held request when it was submitted last.
 */
slotwork_status slotwork_get_fate(const slotwork_submitter *submitter, void *request, slotwork_fate *fate);

/*
 Waits until all that was submitted before the call, by anybody, has ended, and runs `done` for what was handled.
 What others submit meanwhile is not waited for.

 What another thread is collecting at that moment, in a drain of its own or with a request that it just acquired, its own
 `done`s are for it to run: they may be under way, or be to come, when this returns. If there is a `done`, all requests that
 are free are held for a moment at the end, to see which are owed one, and those until theirs has run: a
 `slotwork_try_acquire` of another thread may find none meanwhile. So a `done` must not wait for a thread that waits for a request.
 */
slotwork_status slotwork_drain(const slotwork_submitter *submitter);

/*
 As `slotwork_drain`, for at most so many nanoseconds. When the time runs out, no `done` was run: each runs later, as if
 this had not been called. When all has ended in time, all `done`s are run, however long they take.
 */
slotwork_status slotwork_drain_timeout(const slotwork_submitter *submitter,
                                       uint64_t nanoseconds);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SLOTWORK_H */
