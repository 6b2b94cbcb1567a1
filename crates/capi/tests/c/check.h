/* What the C tests share: a check that ends the program, a table of tests, counters, a gate. */
#ifndef CHECK_H
#define CHECK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

#define CHECK_EQUAL(left, right)                                                                            \
    do {                                                                                                    \
        long long left_ = (long long)(left), right_ = (long long)(right);                                   \
        if (left_ != right_) {                                                                              \
            fprintf(stderr, "%s:%d: check failed: %s is %lld, %s is %lld\n", __FILE__, __LINE__, #left, left_, \
                    #right, right_);                                                                        \
            exit(1);                                                                                        \
        }                                                                                                   \
    } while (0)

struct test {
    const char *name;
    void (*run)(void);
};

/* Runs the test that the first argument names; exits with 2 when there is none of that name. */
static int run_named(const struct test *tests, size_t count, int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < count; i++) {
        if (strcmp(argv[1], tests[i].name) == 0) {
            tests[i].run();
            return 0;
        }
    }
    for (size_t i = 0; i < count; i++) {
        puts(tests[i].name);
    }
    return argc > 1 ? 2 : 0;
}

/* A gate that handlers wait at until it is opened. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    int open;
};

#define GATE_CLOSED {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}

static inline void gate_pass(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (!gate->open) {
        pthread_cond_wait(&gate->opened, &gate->lock);
    }
    pthread_mutex_unlock(&gate->lock);
}

static inline void gate_set(struct gate *gate, int open)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = open;
    pthread_cond_broadcast(&gate->opened);
    pthread_mutex_unlock(&gate->lock);
}

#endif
