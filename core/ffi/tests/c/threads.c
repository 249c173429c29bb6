/* Many threads, one breaker. Its clock is set by hand, so that nothing depends on the machine's speed. */
#include <pthread.h>
#include <stdatomic.h>

#include "expect.h"
#include "setup.h"

#define THREADS 8
#define ROUNDS 300

static _Atomic uint64_t now_ms;

static uint64_t shared_ms(void *context)
{
    return atomic_load((_Atomic uint64_t *)context);
}

static nanobreaker_settings_t settings_of_threads(void)
{
    nanobreaker_settings_t settings;
    EXPECT_EQ(nanobreaker_defaults(&settings, shared_ms, &now_ms), NANOBREAKER_OK);
    settings.open_for_ms = 1000;
    return settings;
}

/* Runs `work` on every thread at once and adds up what they return. */
struct job {
    nanobreaker_t *breaker;
    int64_t (*work)(nanobreaker_t *);
    pthread_barrier_t start;
    _Atomic int64_t sum;
};

static void *worker(void *argument)
{
    struct job *job = argument;
    pthread_barrier_wait(&job->start);
    atomic_fetch_add(&job->sum, job->work(job->breaker));
    return NULL;
}

static int64_t on_all_threads(nanobreaker_t *breaker, int64_t (*work)(nanobreaker_t *))
{
    struct job job = {.breaker = breaker, .work = work, .sum = 0};
    pthread_t threads[THREADS];
    EXPECT_EQ(pthread_barrier_init(&job.start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        EXPECT_EQ(pthread_create(&threads[i], NULL, worker, &job), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&job.start);
    return atomic_load(&job.sum);
}

static int64_t initialises(nanobreaker_t *breaker)
{
    nanobreaker_settings_t settings;
    if (nanobreaker_defaults(&settings, shared_ms, &now_ms) != NANOBREAKER_OK) {
        return 1000;
    }
    switch (nanobreaker_init_failures(breaker, sizeof *breaker, 5, 1000, &settings, NULL)) {
    case NANOBREAKER_OK:
        /* Who succeeded can use it at once. */
        return succeed(breaker) == NANOBREAKER_RECORDED_COUNTED ? 1 : 1000;
    case NANOBREAKER_ERROR_IN_USE:
        return 0;
    default:
        return 1000;
    }
}

static void one_thread_of_all_initialises_the_breaker(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        nanobreaker_t breaker = {0};
        EXPECT_EQ(on_all_threads(&breaker, initialises), 1);
        EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);
        EXPECT_EQ(nanobreaker_end(&breaker), NANOBREAKER_OK);
    }
}

static int64_t succeeds_often(nanobreaker_t *breaker)
{
    int64_t counted = 0;
    for (int i = 0; i < 20000; i++) {
        counted += succeed(breaker) == NANOBREAKER_RECORDED_COUNTED;
    }
    return counted;
}

static void successes_all_count_and_open_nothing(void)
{
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = settings_of_threads();
    EXPECT_EQ(nanobreaker_init_consecutive(&breaker, sizeof breaker, 1, &settings, NULL), NANOBREAKER_OK);
    EXPECT_EQ(on_all_threads(&breaker, succeeds_often), THREADS * 20000);
    EXPECT_EQ(snapshot_of(&breaker).generation, 0);
}

static int64_t fails_until_rejected(nanobreaker_t *breaker)
{
    int64_t failed = 0;
    while (failed < 1000000) {
        int32_t answer = fail(breaker);
        if (answer == NANOBREAKER_REJECTED) {
            return failed;
        }
        failed++;
    }
    return -1000000;
}

static void failures_of_all_threads_open_it_once(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        nanobreaker_t breaker = {0};
        nanobreaker_settings_t settings = settings_of_threads();
        EXPECT_EQ(nanobreaker_init_failures(&breaker, sizeof breaker, 20, 1000, &settings, NULL), NANOBREAKER_OK);
        int64_t failed = on_all_threads(&breaker, fails_until_rejected);
        /* Those under way when it opened come on top. */
        EXPECT(failed >= 20 && failed < 20 + THREADS);
        EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_OPEN);
        EXPECT_EQ(snapshot_of(&breaker).generation, 1);
    }
}

static int64_t asks_for_a_probe(nanobreaker_t *breaker)
{
    uint32_t token;
    return nanobreaker_allow(breaker, &token, NULL) == NANOBREAKER_OK ? 1 : 0;
}

static void no_more_probes_pass_than_the_settings_allow(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        nanobreaker_t breaker = {0};
        nanobreaker_settings_t settings = settings_of_threads();
        settings.max_probes = 3;
        EXPECT_EQ(nanobreaker_init_consecutive(&breaker, sizeof breaker, 1, &settings, NULL), NANOBREAKER_OK);
        EXPECT_EQ(nanobreaker_trip(&breaker), 1);
        atomic_fetch_add(&now_ms, 1000);
        EXPECT_EQ(on_all_threads(&breaker, asks_for_a_probe), 3);
        EXPECT_EQ(snapshot_of(&breaker).in_flight, 3);
    }
}

/* Everything at once: nothing but what the sanitizers see, and that it comes to rest. */
static int64_t does_everything(nanobreaker_t *breaker)
{
    uint64_t saved = 0;
    nanobreaker_snapshot_t snapshot;
    int64_t errors = 0;
    for (int i = 0; i < 3000; i++) {
        errors += fail(breaker) < 0;
        errors += succeed(breaker) < 0;
        errors += nanobreaker_snapshot(breaker, &snapshot) < 0;
        errors += snapshot.phase < NANOBREAKER_PHASE_CLOSED || snapshot.phase > NANOBREAKER_PHASE_DISABLED;
        errors += snapshot.in_flight > 1;
        switch (i % 8) {
        case 0:
            errors += nanobreaker_trip_for(breaker, 5) < 0;
            break;
        case 1:
            errors += nanobreaker_save(breaker, &saved) < 0;
            break;
        case 2:
            errors += nanobreaker_restore(breaker, saved, 1) < 0;
            break;
        case 3:
            errors += nanobreaker_recover(breaker) < 0;
            break;
        case 4:
            errors += nanobreaker_shadow(breaker, i % 16 == 4) < 0;
            break;
        case 5:
            errors += nanobreaker_advise(breaker, 3) < 0;
            break;
        case 6:
            errors += nanobreaker_isolate(breaker) < 0;
            break;
        default:
            errors += nanobreaker_reset(breaker) < 0;
            break;
        }
        atomic_fetch_add(&now_ms, 1);
    }
    return errors;
}

static void every_function_may_be_called_by_every_thread_at_once(void)
{
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = settings_of_threads();
    EXPECT_EQ(nanobreaker_init_failures(&breaker, sizeof breaker, 3, 100, &settings, NULL), NANOBREAKER_OK);
    EXPECT_EQ(on_all_threads(&breaker, does_everything), 0);
    EXPECT_EQ(nanobreaker_shadow(&breaker, 0), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_reset(&breaker), NANOBREAKER_OK);
    EXPECT_EQ(succeed(&breaker), NANOBREAKER_RECORDED_COUNTED);
}

int main(void)
{
    one_thread_of_all_initialises_the_breaker();
    successes_all_count_and_open_nothing();
    failures_of_all_threads_open_it_once();
    no_more_probes_pass_than_the_settings_allow();
    every_function_may_be_called_by_every_thread_at_once();
    return verdict("threads");
}
