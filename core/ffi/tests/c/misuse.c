/* Everything that can be done wrong is answered with an error, and changes nothing. Runs on hosts, under
 * the sanitizers, and on boards. */
#include "expect.h"
#include "setup.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Every function that takes a breaker which should be initialised. */
static int32_t allow(nanobreaker_t *breaker)
{
    uint32_t token = 7;
    uint32_t retry_after_ms = 7;
    int32_t answer = nanobreaker_allow(breaker, &token, &retry_after_ms);
    EXPECT_EQ(token, NANOBREAKER_NO_TOKEN);
    EXPECT_EQ(retry_after_ms, 7);
    return answer;
}

static int32_t record(nanobreaker_t *breaker)
{
    return nanobreaker_record(breaker, 0, NANOBREAKER_OUTCOME_FAILURE);
}

static int32_t phase(nanobreaker_t *breaker)
{
    return nanobreaker_phase(breaker);
}

static int32_t snapshot(nanobreaker_t *breaker)
{
    nanobreaker_snapshot_t taken = {.generation = 7};
    int32_t answer = nanobreaker_snapshot(breaker, &taken);
    EXPECT_EQ(taken.generation, 7);
    return answer;
}

static int32_t trip_for(nanobreaker_t *breaker)
{
    return nanobreaker_trip_for(breaker, 1);
}

static int32_t advise(nanobreaker_t *breaker)
{
    return nanobreaker_advise(breaker, 1);
}

static int32_t shadow(nanobreaker_t *breaker)
{
    return nanobreaker_shadow(breaker, 1);
}

static int32_t seed(nanobreaker_t *breaker)
{
    return nanobreaker_seed(breaker, 1);
}

static int32_t save(nanobreaker_t *breaker)
{
    uint64_t saved = 7;
    int32_t answer = nanobreaker_save(breaker, &saved);
    EXPECT_EQ(saved, 7);
    return answer;
}

static int32_t restore(nanobreaker_t *breaker)
{
    return nanobreaker_restore(breaker, 0, 0);
}

static int32_t (*const FUNCTIONS[])(nanobreaker_t *) = {
    allow,
    record,
    phase,
    snapshot,
    nanobreaker_trip,
    trip_for,
    advise,
    nanobreaker_recover,
    nanobreaker_isolate,
    nanobreaker_disable,
    nanobreaker_reset,
    shadow,
    seed,
    save,
    restore,
    nanobreaker_end,
};

static void each_function_answers(nanobreaker_t *breaker, int32_t expected)
{
    for (size_t i = 0; i < COUNT(FUNCTIONS); i++) {
        EXPECT_EQ(FUNCTIONS[i](breaker), expected);
    }
}

/* Makes a breaker of each kind in turn, which trips on the first failure, or asks as much. */
static int32_t init(int kind, nanobreaker_t *breaker, size_t size, const nanobreaker_settings_t *settings,
                    nanobreaker_fault_t *fault)
{
    static const nanobreaker_cusum_t CUSUM = {
        .calls_per_false_trip = 2, .normal_ppm = 1, .broken_ppm = 999999, .sustained_for_ms = 0};
    switch (kind) {
    case 0:
        return nanobreaker_init_failures(breaker, size, 1, 1000, settings, fault);
    case 1:
        return nanobreaker_init_consecutive(breaker, size, 1, settings, fault);
    default:
        return nanobreaker_init_cusum(breaker, size, &CUSUM, settings, fault);
    }
}

static const size_t SIZES[] = {NANOBREAKER_SIZE, NANOBREAKER_CONSECUTIVE_SIZE, NANOBREAKER_CUSUM_SIZE};

static nanobreaker_t *misaligned(nanobreaker_t *memory, size_t by)
{
    return (nanobreaker_t *)(void *)((unsigned char *)memory + by);
}

static void null_pointers_are_refused(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    each_function_answers(NULL, NANOBREAKER_ERROR_NULL);
    for (int kind = 0; kind < 3; kind++) {
        EXPECT_EQ(init(kind, NULL, sizeof breaker, &settings, NULL), NANOBREAKER_ERROR_NULL);
        EXPECT_EQ(init(kind, &breaker, sizeof breaker, NULL, NULL), NANOBREAKER_ERROR_NULL);
    }
    EXPECT_EQ(nanobreaker_init_cusum(&breaker, sizeof breaker, NULL, &settings, NULL), NANOBREAKER_ERROR_NULL);
    EXPECT_EQ(nanobreaker_defaults(NULL, manual_ms, &clock), NANOBREAKER_ERROR_NULL);
    EXPECT_EQ(nanobreaker_defaults(&settings, NULL, &clock), NANOBREAKER_ERROR_NULL);
    settings.clock = NULL;
    EXPECT_EQ(init(1, &breaker, sizeof breaker, &settings, NULL), NANOBREAKER_ERROR_NULL);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_ERROR_NOT_INITIALISED);

    settings = one_second(&clock);
    EXPECT_EQ(init(1, &breaker, sizeof breaker, &settings, NULL), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_allow(&breaker, NULL, NULL), NANOBREAKER_ERROR_NULL);
    EXPECT_EQ(nanobreaker_snapshot(&breaker, NULL), NANOBREAKER_ERROR_NULL);
    EXPECT_EQ(nanobreaker_save(&breaker, NULL), NANOBREAKER_ERROR_NULL);
}

static void misaligned_pointers_are_refused(void)
{
    static nanobreaker_t memory[2];
    uint64_t clock = 0;
    nanobreaker_settings_t settings = one_second(&clock);
    for (size_t by = 1; by < NANOBREAKER_ALIGN; by++) {
        each_function_answers(misaligned(memory, by), NANOBREAKER_ERROR_MISALIGNED);
        for (int kind = 0; kind < 3; kind++) {
            EXPECT_EQ(init(kind, misaligned(memory, by), sizeof memory[0], &settings, NULL),
                      NANOBREAKER_ERROR_MISALIGNED);
        }
    }

    /* Two bytes on, whatever the type. */
    static uint64_t words[32];
    void *odd = (unsigned char *)words + 2;
    EXPECT_EQ(init(1, &memory[0], sizeof memory[0], &settings, odd), NANOBREAKER_ERROR_MISALIGNED);
    EXPECT_EQ(init(1, &memory[0], sizeof memory[0], odd, NULL), NANOBREAKER_ERROR_MISALIGNED);
    EXPECT_EQ(nanobreaker_init_cusum(&memory[0], sizeof memory[0], odd, &settings, NULL),
              NANOBREAKER_ERROR_MISALIGNED);
    EXPECT_EQ(nanobreaker_defaults(odd, manual_ms, &clock), NANOBREAKER_ERROR_MISALIGNED);
    EXPECT_EQ(init(1, &memory[0], sizeof memory[0], &settings, NULL), NANOBREAKER_OK);
    uint32_t token;
    EXPECT_EQ(nanobreaker_allow(&memory[0], odd, NULL), NANOBREAKER_ERROR_MISALIGNED);
    EXPECT_EQ(nanobreaker_allow(&memory[0], &token, odd), NANOBREAKER_ERROR_MISALIGNED);
    EXPECT_EQ(token, NANOBREAKER_NO_TOKEN);
    EXPECT_EQ(nanobreaker_snapshot(&memory[0], odd), NANOBREAKER_ERROR_MISALIGNED);
    EXPECT_EQ(nanobreaker_save(&memory[0], odd), NANOBREAKER_ERROR_MISALIGNED);
}

static void memory_that_holds_no_breaker_is_refused(void)
{
    static const unsigned char PATTERNS[] = {0x00, 0xFF, 0xAA, 0x55, 0xCD, 0xDE, 0x01, 0x80};
    for (size_t i = 0; i < COUNT(PATTERNS); i++) {
        nanobreaker_t breaker;
        for (size_t at = 0; at < sizeof breaker; at++) {
            breaker.opaque[at] = PATTERNS[i];
        }
        each_function_answers(&breaker, NANOBREAKER_ERROR_NOT_INITIALISED);
        for (size_t at = 0; at < sizeof breaker; at++) {
            EXPECT_EQ(breaker.opaque[at], PATTERNS[i]);
        }
        /* What lies there does not matter, as long as it is no breaker. */
        uint64_t clock = 0;
        nanobreaker_settings_t settings = one_second(&clock);
        EXPECT_EQ(init(0, &breaker, sizeof breaker, &settings, NULL), NANOBREAKER_OK);
        EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);
    }
}

static void a_copy_is_refused_and_the_original_is_not(void)
{
    for (int kind = 0; kind < 3; kind++) {
        uint64_t clock = 0;
        nanobreaker_t original = {0};
        nanobreaker_settings_t settings = one_second(&clock);
        EXPECT_EQ(init(kind, &original, sizeof original, &settings, NULL), NANOBREAKER_OK);
        nanobreaker_t copy = original;
        each_function_answers(&copy, NANOBREAKER_ERROR_NOT_INITIALISED);
        EXPECT_EQ(nanobreaker_phase(&original), NANOBREAKER_PHASE_CLOSED);
    }
}

static void memory_that_holds_a_breaker_is_not_initialised_again(void)
{
    for (int kind = 0; kind < 3; kind++) {
        uint64_t clock = 0;
        nanobreaker_t breaker = {0};
        nanobreaker_settings_t settings = one_second(&clock);
        EXPECT_EQ(init(kind, &breaker, sizeof breaker, &settings, NULL), NANOBREAKER_OK);
        EXPECT_EQ(nanobreaker_trip(&breaker), 1);
        for (int other = 0; other < 3; other++) {
            EXPECT_EQ(init(other, &breaker, sizeof breaker, &settings, NULL), NANOBREAKER_ERROR_IN_USE);
        }
        EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_OPEN);
    }
}

static void memory_that_is_too_small_is_refused_and_not_written(void)
{
    for (int kind = 0; kind < 3; kind++) {
        uint64_t clock = 0;
        nanobreaker_t breaker = {0};
        nanobreaker_settings_t settings = one_second(&clock);
        EXPECT_EQ(init(kind, &breaker, 0, &settings, NULL), NANOBREAKER_ERROR_TOO_SMALL);
        EXPECT_EQ(init(kind, &breaker, SIZES[kind] - 1, &settings, NULL), NANOBREAKER_ERROR_TOO_SMALL);
        for (size_t at = 0; at < sizeof breaker; at++) {
            EXPECT_EQ(breaker.opaque[at], 0);
        }
        EXPECT_EQ(init(kind, &breaker, SIZES[kind], &settings, NULL), NANOBREAKER_OK);
        fail(&breaker);
        EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_OPEN);
        for (size_t at = SIZES[kind]; at < sizeof breaker; at++) {
            EXPECT_EQ(breaker.opaque[at], 0);
        }
    }
}

static void settings_that_were_never_filled_in_are_refused(void)
{
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = {0};
    EXPECT_EQ(init(0, &breaker, sizeof breaker, &settings, NULL), NANOBREAKER_ERROR_NOT_INITIALISED);
    settings.clock = manual_ms;
    settings.open_for_ms = 1000;
    EXPECT_EQ(init(0, &breaker, sizeof breaker, &settings, NULL), NANOBREAKER_ERROR_NOT_INITIALISED);
}

/* One setting outside its limits: which, its value, and the nearest that is allowed. */
struct bad {
    uint32_t field;
    uint32_t value;
    uint64_t minimum;
    uint64_t maximum;
};

static uint32_t *setting_of(nanobreaker_settings_t *settings, uint32_t field)
{
    switch (field) {
    case NANOBREAKER_FIELD_OPEN_FOR_MS:
        return &settings->open_for_ms;
    case NANOBREAKER_FIELD_MAX_OPEN_MS:
        return &settings->max_open_ms;
    case NANOBREAKER_FIELD_RELAPSE_WITHIN_MS:
        return &settings->relapse_within_ms;
    case NANOBREAKER_FIELD_MAX_PROBES:
        return &settings->max_probes;
    case NANOBREAKER_FIELD_PROBE_SUCCESSES:
        return &settings->probe_successes;
    case NANOBREAKER_FIELD_PROBE_FAILURES:
        return &settings->probe_failures;
    case NANOBREAKER_FIELD_PROBE_LEASE_MS:
        return &settings->probe_lease_ms;
    case NANOBREAKER_FIELD_RAMP_MS:
        return &settings->ramp_ms;
    case NANOBREAKER_FIELD_JITTER_PERMILLE:
        return &settings->jitter_permille;
    case NANOBREAKER_FIELD_LATCH:
        return &settings->latch;
    default:
        return NULL;
    }
}

static void is_refused(int32_t answer, const nanobreaker_fault_t *fault, struct bad bad)
{
    EXPECT_EQ(answer, NANOBREAKER_ERROR_SETTING);
    EXPECT_EQ(fault->field, bad.field);
    EXPECT_EQ(fault->value, bad.value);
    EXPECT_EQ(fault->minimum, bad.minimum);
    EXPECT_EQ(fault->maximum, bad.maximum);
}

#ifdef NANOBREAKER_WIDE
#define MOST(wide, narrow) (wide)
#else
#define MOST(wide, narrow) (narrow)
#endif
#define LONGEST 67108864

static void each_setting_of_the_opening_is_refused_by_its_number(void)
{
    static const struct bad CASES[] = {
        {NANOBREAKER_FIELD_OPEN_FOR_MS, 0, 1, LONGEST},
        {NANOBREAKER_FIELD_OPEN_FOR_MS, LONGEST + 1, 1, LONGEST},
        {NANOBREAKER_FIELD_MAX_OPEN_MS, 999, 1000, LONGEST},
        {NANOBREAKER_FIELD_MAX_OPEN_MS, UINT32_MAX, 1000, LONGEST},
        {NANOBREAKER_FIELD_RELAPSE_WITHIN_MS, 0, 1, LONGEST},
        {NANOBREAKER_FIELD_MAX_PROBES, 0, 1, MOST(63, 7)},
        {NANOBREAKER_FIELD_MAX_PROBES, MOST(64, 8), 1, MOST(63, 7)},
        {NANOBREAKER_FIELD_PROBE_SUCCESSES, 0, 1, MOST(64, 8)},
        {NANOBREAKER_FIELD_PROBE_FAILURES, 0, 1, MOST(16, 4)},
        {NANOBREAKER_FIELD_PROBE_LEASE_MS, 0, 1, LONGEST},
        {NANOBREAKER_FIELD_RAMP_MS, LONGEST + 1, 0, LONGEST},
        {NANOBREAKER_FIELD_JITTER_PERMILLE, 1001, 0, 1000},
        {NANOBREAKER_FIELD_LATCH, 2, 0, 1},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        uint64_t clock = 0;
        nanobreaker_t breaker = {0};
        nanobreaker_settings_t settings = one_second(&clock);
        *setting_of(&settings, CASES[i].field) = CASES[i].value;
        for (int kind = 0; kind < 3; kind++) {
            nanobreaker_fault_t fault = {0};
            is_refused(init(kind, &breaker, sizeof breaker, &settings, &fault), &fault, CASES[i]);
            EXPECT_EQ(init(kind, &breaker, sizeof breaker, &settings, NULL), NANOBREAKER_ERROR_SETTING);
            EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_ERROR_NOT_INITIALISED);
        }
    }
}

static void each_setting_of_a_window_is_refused_by_its_number(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    nanobreaker_fault_t fault = {0};
    is_refused(nanobreaker_init_failures(&breaker, sizeof breaker, 0, 1000, &settings, &fault), &fault,
               (struct bad){NANOBREAKER_FIELD_THRESHOLD, 0, 1, NANOBREAKER_MAX_THRESHOLD});
    is_refused(nanobreaker_init_failures(&breaker, sizeof breaker, NANOBREAKER_MAX_THRESHOLD + 1, 1000, &settings,
                                         &fault),
               &fault,
               (struct bad){NANOBREAKER_FIELD_THRESHOLD, NANOBREAKER_MAX_THRESHOLD + 1, 1,
                            NANOBREAKER_MAX_THRESHOLD});
    is_refused(nanobreaker_init_failures(&breaker, sizeof breaker, 1, 0, &settings, &fault), &fault,
               (struct bad){NANOBREAKER_FIELD_WITHIN_MS, 0, 1, LONGEST});
    is_refused(nanobreaker_init_consecutive(&breaker, sizeof breaker, 65536, &settings, &fault), &fault,
               (struct bad){NANOBREAKER_FIELD_THRESHOLD, 65536, 1, 65535});

    nanobreaker_cusum_t cusum = {
        .normal_ppm = 0, .broken_ppm = 500000, .calls_per_false_trip = 1000, .sustained_for_ms = 0};
    is_refused(nanobreaker_init_cusum(&breaker, sizeof breaker, &cusum, &settings, &fault), &fault,
               (struct bad){NANOBREAKER_FIELD_NORMAL_PPM, 0, 1, 999998});
    cusum.normal_ppm = 1000;
    cusum.broken_ppm = 1000;
    EXPECT_EQ(nanobreaker_init_cusum(&breaker, sizeof breaker, &cusum, &settings, &fault),
              NANOBREAKER_ERROR_SETTING);
    EXPECT_EQ(fault.field, NANOBREAKER_FIELD_BROKEN_PPM);
    EXPECT(fault.minimum > 1000 && fault.maximum == 999999);
    cusum.broken_ppm = 500000;
    cusum.calls_per_false_trip = 1;
    is_refused(nanobreaker_init_cusum(&breaker, sizeof breaker, &cusum, &settings, &fault), &fault,
               (struct bad){NANOBREAKER_FIELD_CALLS_PER_FALSE_TRIP, 1, 2, UINT64_C(1000000000000000)});
    cusum.calls_per_false_trip = 1000;
    cusum.sustained_for_ms = 16777217;
    is_refused(nanobreaker_init_cusum(&breaker, sizeof breaker, &cusum, &settings, &fault), &fault,
               (struct bad){NANOBREAKER_FIELD_SUSTAINED_FOR_MS, 16777217, 0, MOST(16777216, 0)});
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_ERROR_NOT_INITIALISED);
}

static void numbers_that_mean_nothing_are_refused(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    EXPECT_EQ(init(1, &breaker, sizeof breaker, &settings, NULL), NANOBREAKER_OK);
    uint32_t token;
    EXPECT_EQ(nanobreaker_allow(&breaker, &token, NULL), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_record(&breaker, token, 0), NANOBREAKER_ERROR_OUTCOME);
    EXPECT_EQ(nanobreaker_record(&breaker, token, 7), NANOBREAKER_ERROR_OUTCOME);
    EXPECT_EQ(nanobreaker_record(&breaker, token, UINT32_MAX), NANOBREAKER_ERROR_OUTCOME);
    EXPECT_EQ(nanobreaker_record(&breaker, NANOBREAKER_NO_TOKEN, NANOBREAKER_OUTCOME_FAILURE),
              NANOBREAKER_ERROR_TOKEN);
    /* Bits that are no token: whatever becomes of them, nothing but a call's outcome. */
    for (uint32_t bit = 0; bit < 32; bit++) {
        EXPECT(nanobreaker_record(&breaker, token ^ (UINT32_C(1) << bit), NANOBREAKER_OUTCOME_SUCCESS) > 0);
    }
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);
}

static void a_token_is_spent_once(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    EXPECT_EQ(init(1, &breaker, sizeof breaker, &settings, NULL), NANOBREAKER_OK);
    fail(&breaker);
    clock += 1000;
    uint32_t probe;
    EXPECT_EQ(nanobreaker_allow(&breaker, &probe, NULL), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_record(&breaker, probe, NANOBREAKER_OUTCOME_FAILURE), NANOBREAKER_RECORDED_COUNTED);
    EXPECT_EQ(nanobreaker_record(&breaker, probe, NANOBREAKER_OUTCOME_SUCCESS), NANOBREAKER_RECORDED_STALE);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_OPEN);
}

int main(void)
{
    null_pointers_are_refused();
    misaligned_pointers_are_refused();
    memory_that_holds_no_breaker_is_refused();
    a_copy_is_refused_and_the_original_is_not();
    memory_that_holds_a_breaker_is_not_initialised_again();
    memory_that_is_too_small_is_refused_and_not_written();
    settings_that_were_never_filled_in_are_refused();
    each_setting_of_the_opening_is_refused_by_its_number();
    each_setting_of_a_window_is_refused_by_its_number();
    numbers_that_mean_nothing_are_refused();
    a_token_is_spent_once();
    return verdict("misuse");
}
