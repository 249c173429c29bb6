/* A main loop and an interrupt that use one breaker, on a board. The interrupt comes after ever another
 * number of cycles, so that it strikes at every place of what it interrupts. */
#include "cortex_m.h"
#include "expect.h"
#include "setup.h"

#define ROUNDS 4000

static nanobreaker_t breaker;
static volatile uint32_t now_ms;
static volatile uint32_t interrupts;
static volatile uint32_t errors;
static volatile uint32_t admitted_in_interrupts;

static uint64_t ticking_ms(void *context)
{
    (void)context;
    return now_ms;
}

static void look(void)
{
    nanobreaker_snapshot_t snapshot;
    int32_t answer = nanobreaker_snapshot(&breaker, &snapshot);
    int broken = answer != NANOBREAKER_OK || snapshot.phase < NANOBREAKER_PHASE_CLOSED ||
                 snapshot.phase > NANOBREAKER_PHASE_DISABLED || snapshot.in_flight > 2;
    if (broken) {
        errors = errors + 1;
    }
}

/* One call that fails every third time. */
static uint32_t one_call(uint32_t number)
{
    uint32_t token;
    int32_t answer = nanobreaker_allow(&breaker, &token, NULL);
    if (answer == NANOBREAKER_REJECTED) {
        return 0;
    }
    int32_t recorded = answer != NANOBREAKER_OK ? answer
                                                : nanobreaker_record(&breaker, token,
                                                                     number % 3 == 0 ? NANOBREAKER_OUTCOME_FAILURE
                                                                                     : NANOBREAKER_OUTCOME_SUCCESS);
    if (recorded < 0) {
        errors = errors + 1;
    }
    return 1;
}

static void in_interrupt(void)
{
    interrupts = interrupts + 1;
    now_ms = now_ms + 1;
    admitted_in_interrupts = admitted_in_interrupts + one_call(interrupts);
    look();
    /* So many cycles after this one ended: the main loop must get somewhere within an open time. */
    tick_every(900 + interrupts % 251, in_interrupt);
}

int main(void)
{
    uint32_t admitted = 0;
    uint32_t tripped = 0;
    nanobreaker_settings_t settings;
    EXPECT_EQ(nanobreaker_defaults(&settings, ticking_ms, NULL), NANOBREAKER_OK);
    settings.open_for_ms = 5;
    settings.max_probes = 2;
    settings.probe_lease_ms = 12;
    EXPECT_EQ(nanobreaker_init_failures(&breaker, sizeof breaker, 4, 50, &settings, NULL), NANOBREAKER_OK);

    tick_every(500, in_interrupt);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        admitted += one_call(round);
        look();
        tripped += nanobreaker_phase(&breaker) == NANOBREAKER_PHASE_OPEN;
        if (round % 64 == 0) {
            nanobreaker_reset(&breaker);
        }
    }
    tick_no_more();

    EXPECT_EQ(errors, 0);
    EXPECT(interrupts > ROUNDS / 4);
    EXPECT(admitted > ROUNDS / 4 && admitted < ROUNDS);
    EXPECT(admitted_in_interrupts > 100 && admitted_in_interrupts < interrupts);
    EXPECT(tripped > 100);
    /* Nothing is left behind: it closes as if nothing had been. */
    now_ms = now_ms + 1000;
    EXPECT_EQ(nanobreaker_reset(&breaker), NANOBREAKER_OK);
    for (uint32_t failures = 0; failures < 3; failures++) {
        EXPECT_EQ(fail(&breaker), NANOBREAKER_RECORDED_COUNTED);
    }
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);
    fail(&breaker);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_OPEN);
    now_ms = now_ms + 5;
    EXPECT_EQ(succeed(&breaker), NANOBREAKER_RECORDED_COUNTED);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);
    return verdict("interrupts");
}
