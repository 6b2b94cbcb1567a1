/* page_compress.c: the benchmark of 2018. Worker threads deflate pages of memory; one submitter spins for a free request.
 *
 *   page_compress [-t THREADS] [-r REQUESTS] [-m MEBIBYTES] [-c RUNS] [-e] [-s]
 *
 * -e: an empty handler, so that only the queue is measured. -s: a run for each line that comes in, so that somebody else can
 * interleave it with another program's. Pages done must be pages submitted, or the exit status is 1.
 * Build lines are in crates/capi/README.md; page_compress.rs does the same in Rust.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "threaded-workqueue.h"

#define PAGE 4096
#define OUTPUT (PAGE + PAGE / 8 + 64)

typedef struct CompressRequest {
    z_stream stream;
    unsigned char *page;
    unsigned long compressed;
    unsigned char *output;
} CompressRequest;

/* The submitter's alone: what a handler reads must not stand beside it, or each request costs a cache line more. */
static unsigned long pages_done, bytes_compressed;

static int compress_init(void *opaque)
{
    CompressRequest *request = opaque;
    if (!(request->output = malloc(OUTPUT))) {
        return -1;
    }
    if (deflateInit(&request->stream, 1) != Z_OK) {
        free(request->output);
        return -1;
    }
    return 0;
}

static void compress_uninit(void *opaque)
{
    CompressRequest *request = opaque;
    deflateEnd(&request->stream);
    free(request->output);
}

/* On a worker thread. */
static void compress_handler(void *opaque)
{
    CompressRequest *request = opaque;
    z_stream *stream = &request->stream;
    deflateReset(stream);
    stream->next_in = request->page;
    stream->avail_in = PAGE;
    stream->next_out = request->output;
    stream->avail_out = OUTPUT;
    request->compressed = deflate(stream, Z_FINISH) == Z_STREAM_END ? stream->total_out : 0;
}

/* The same without any work, so that only the queue is measured. */
static void empty_handler(void *opaque)
{
    (void)opaque;
}

/* On the submitter's thread, once for each handled request. */
static void compress_done(void *opaque)
{
    CompressRequest *request = opaque;
    pages_done++;
    bytes_compressed += request->compressed;
}

static ThreadedWorkqueueOps compress_ops = {
    .thread_request_init = compress_init,
    .thread_request_uninit = compress_uninit,
    .thread_request_handler = compress_handler,
    .thread_request_done = compress_done,
    .request_size = sizeof(CompressRequest),
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    unsigned int threads = 2, requests = DEFAULT_THREAD_REQUEST_NR, runs = 3;
    size_t mebibytes = 64;
    int option, stepwise = 0;
    while ((option = getopt(argc, argv, "t:r:m:c:es")) != -1) {
        switch (option) {
        case 't': threads = (unsigned int)atoi(optarg); break;
        case 'r': requests = (unsigned int)atoi(optarg); break;
        case 'm': mebibytes = (size_t)atol(optarg); break;
        case 'c': runs = (unsigned int)atoi(optarg); break;
        case 'e': compress_ops.thread_request_handler = empty_handler; break;
        case 's': stepwise = 1; break;
        default: return 2;
        }
    }

    size_t bytes = mebibytes << 20;
    unsigned char *memory = calloc(bytes ? bytes : 1, 1);
    if (!memory) {
        perror("page_compress");
        return 1;
    }
    for (size_t at = 0; at < bytes; at += PAGE) {
        memory[at] = 0x10;
    }

    Threads *queue = threaded_workqueue_create("compress", threads, requests, &compress_ops);
    if (!queue) {
        fprintf(stderr, "page_compress: no workqueue of %u threads with %u requests\n", threads, requests);
        return 1;
    }

    int failed = 0;
    for (unsigned int run = 0; stepwise ? getchar() != EOF : run < runs; run++) {
        unsigned long submitted = 0;
        pages_done = bytes_compressed = 0;
        double start = now();
        for (size_t at = 0; at < bytes; at += PAGE) {
            CompressRequest *request;
            while (!(request = threaded_workqueue_get_request(queue))) {
            }
            request->page = memory + at;
            threaded_workqueue_submit_request(queue, request);
            submitted++;
        }
        threaded_workqueue_wait_for_requests(queue);
        double seconds = now() - start;
        failed |= pages_done != submitted;
        printf("threads=%u pages=%lu done=%lu seconds=%.6f requests_per_second=%.0f ratio=%.1f\n", threads, submitted,
               pages_done, seconds, (double)pages_done / seconds,
               bytes_compressed ? (double)bytes / (double)bytes_compressed : 0.0);
        fflush(stdout);
    }

    threaded_workqueue_destroy(queue);
    free(memory);
    return failed;
}
