/* Everything in any order: tokens of other breakers and made-up ones, clocks that jump, states that lost bits. Runs
 * on hosts, under the sanitizers. Whatever comes, the limits of the settings hold. */
#include "expect.h"
#include "setup.h"

#define BREAKERS 4
#define TOKENS 64
#define ROUNDS 400
#define STEPS 500

/* xorshift64 (Marsaglia, 2003): the same numbers in each run. */
static uint64_t random_state = UINT64_C(88172645463325252);

static uint64_t any(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint32_t below(uint32_t end)
{
    return (uint32_t)(any() % end);
}

static uint64_t clock_ms;
static nanobreaker_t breakers[BREAKERS];
static nanobreaker_settings_t settings_of[BREAKERS];
static uint32_t tokens[TOKENS];

static nanobreaker_settings_t any_settings(void)
{
    nanobreaker_settings_t settings = one_second(&clock_ms);
    settings.open_for_ms = 1 + below(5000);
    settings.max_open_ms = settings.open_for_ms + below(20000);
    settings.max_probes = 1 + below(7);
    settings.probe_successes = 1 + below(8);
    settings.probe_failures = 1 + below(4);
    settings.probe_lease_ms = 1 + below(3000);
    settings.ramp_ms = below(3000);
    settings.jitter_permille = below(1001);
    return settings;
}

static void make(uint32_t at)
{
    static const nanobreaker_cusum_t CUSUM = {
        .calls_per_false_trip = 1000, .normal_ppm = 20000, .broken_ppm = 500000, .sustained_for_ms = 0};
    nanobreaker_t *breaker = &breakers[at];
    size_t size = sizeof *breaker;
    settings_of[at] = any_settings();
    const nanobreaker_settings_t *settings = &settings_of[at];
    int32_t answer;
    switch (below(3)) {
    case 0:
        answer = nanobreaker_init_failures(breaker, size, 1 + below(NANOBREAKER_MAX_THRESHOLD), 1 + below(100000),
                                           settings, NULL);
        break;
    case 1:
        answer = nanobreaker_init_consecutive(breaker, size, 1 + below(60), settings, NULL);
        break;
    default:
        answer = nanobreaker_init_cusum(breaker, size, &CUSUM, settings, NULL);
    }
    EXPECT_EQ(answer, NANOBREAKER_OK);
}

static void ask(nanobreaker_t *breaker)
{
    uint32_t token;
    uint32_t retry_after_ms = 0;
    int32_t answer = nanobreaker_allow(breaker, &token, &retry_after_ms);
    EXPECT(answer == NANOBREAKER_OK || answer == NANOBREAKER_REJECTED);
    if (answer == NANOBREAKER_OK) {
        tokens[below(TOKENS)] = token;
    }
}

/* The token may be of this breaker, of another one, spent before, or none that was ever given. */
static void record(nanobreaker_t *breaker)
{
    uint32_t token = below(8) == 0 ? (uint32_t)any() : tokens[below(TOKENS)];
    int32_t answer = nanobreaker_record(breaker, token, 1 + below(6));
    EXPECT(answer > 0 || (answer == NANOBREAKER_ERROR_TOKEN && token == NANOBREAKER_NO_TOKEN));
}

static void move_the_clock(void)
{
    switch (below(40)) {
    case 0:
        clock_ms = any();
        break;
    case 1:
        clock_ms -= below(100000);
        break;
    default:
        clock_ms += below(3000);
    }
}

static void order(nanobreaker_t *breaker)
{
    switch (below(20)) {
    case 0:
        EXPECT(nanobreaker_isolate(breaker) >= 0);
        break;
    case 1:
        EXPECT(nanobreaker_disable(breaker) >= 0);
        break;
    case 2:
    case 3:
    case 4:
        EXPECT(nanobreaker_trip_for(breaker, (uint32_t)any()) >= 0);
        break;
    case 5:
    case 6:
    case 7:
        EXPECT(nanobreaker_advise(breaker, (uint32_t)any()) >= 0);
        break;
    case 8:
    case 9:
        EXPECT(nanobreaker_recover(breaker) >= 0);
        break;
    case 10:
    case 11:
        EXPECT_EQ(nanobreaker_shadow(breaker, (int32_t)below(3) - 1), NANOBREAKER_OK);
        break;
    case 12:
        EXPECT_EQ(nanobreaker_seed(breaker, (uint32_t)any()), NANOBREAKER_OK);
        break;
    case 13:
    case 14:
        EXPECT_EQ(nanobreaker_reset(breaker), NANOBREAKER_OK);
        break;
    default:
        EXPECT(nanobreaker_trip(breaker) >= 0);
    }
}

/* A state that lost one bit is refused; another breaker's is as good as its own. */
static void save_and_restore(nanobreaker_t *breaker)
{
    uint64_t saved = 0;
    EXPECT_EQ(nanobreaker_save(breaker, &saved), NANOBREAKER_OK);
    nanobreaker_t *other = &breakers[below(BREAKERS)];
    EXPECT(nanobreaker_restore(other, saved ^ (UINT64_C(1) << below(64)), any()) < 0);
    EXPECT_EQ(nanobreaker_restore(other, saved, any() >> below(64)), NANOBREAKER_OK);
}

static void limits_hold(uint32_t at)
{
    nanobreaker_snapshot_t seen = snapshot_of(&breakers[at]);
    const nanobreaker_settings_t *settings = &settings_of[at];
    EXPECT(seen.phase >= NANOBREAKER_PHASE_CLOSED && seen.phase <= NANOBREAKER_PHASE_DISABLED);
    if (seen.phase == NANOBREAKER_PHASE_HALF_OPEN) {
        EXPECT(seen.in_flight <= settings->max_probes);
        EXPECT(seen.succeeded < settings->probe_successes);
        EXPECT(seen.failed < settings->probe_failures);
    }
    if (seen.phase == NANOBREAKER_PHASE_OPEN) {
        /* The longest that others may advise, and what a clock that is set back adds. */
        uint64_t longest = 2 * (uint64_t)settings->max_open_ms + 10000;
        EXPECT(seen.time_left_ms <= longest + longest / 8);
    }
}

static void step(void)
{
    uint32_t at = below(BREAKERS);
    switch (below(10)) {
    case 0:
    case 1:
    case 2:
        ask(&breakers[at]);
        break;
    case 3:
    case 4:
    case 5:
        record(&breakers[at]);
        break;
    case 6:
        move_the_clock();
        break;
    case 7:
        order(&breakers[at]);
        break;
    case 8:
        save_and_restore(&breakers[at]);
        break;
    default:
        limits_hold(at);
    }
}

int main(void)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t at = 0; at < BREAKERS; at++) {
            make(at);
        }
        for (uint32_t i = 0; i < STEPS; i++) {
            step();
        }
        for (uint32_t at = 0; at < BREAKERS; at++) {
            EXPECT_EQ(nanobreaker_end(&breakers[at]), NANOBREAKER_OK);
            EXPECT_EQ(nanobreaker_end(&breakers[at]), NANOBREAKER_ERROR_NOT_INITIALISED);
        }
    }
    return verdict("any order");
}
