/* What a breaker does, told from C. Runs on hosts and on boards. */
#include "expect.h"
#include "setup.h"

static void opens_on_failures_within_a_time_and_forgets_older_ones(void)
{
    uint64_t clock = 5000;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    EXPECT_EQ(nanobreaker_init_failures(&breaker, sizeof breaker, 3, 1000, &settings, NULL), NANOBREAKER_OK);
    EXPECT_EQ(fail(&breaker), NANOBREAKER_RECORDED_COUNTED);
    clock += 600;
    EXPECT_EQ(fail(&breaker), NANOBREAKER_RECORDED_COUNTED);
    EXPECT_EQ(succeed(&breaker), NANOBREAKER_RECORDED_COUNTED);
    clock += 600;
    fail(&breaker);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);
    fail(&breaker);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_OPEN);
    EXPECT_EQ(fail(&breaker), NANOBREAKER_REJECTED);
}

static void opens_on_failures_in_a_row_but_not_across_a_success(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    EXPECT_EQ(nanobreaker_init_consecutive(&breaker, NANOBREAKER_CONSECUTIVE_SIZE, 2, &settings, NULL),
              NANOBREAKER_OK);
    fail(&breaker);
    succeed(&breaker);
    fail(&breaker);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);
    fail(&breaker);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_OPEN);
}

static void opens_on_evidence_against_which_successes_weigh(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    nanobreaker_cusum_t cusum = {
        .normal_ppm = 2000,
        .broken_ppm = 200000,
        .calls_per_false_trip = 10000000,
        .sustained_for_ms = 0,
    };
    EXPECT_EQ(nanobreaker_init_cusum(&breaker, NANOBREAKER_CUSUM_SIZE, &cusum, &settings, NULL), NANOBREAKER_OK);
    for (int failures = 0; failures < 3; failures++) {
        fail(&breaker);
    }
    for (int successes = 0; successes < 100; successes++) {
        succeed(&breaker);
    }
    for (int failures = 0; failures < 3; failures++) {
        fail(&breaker);
    }
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);
    fail(&breaker);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_OPEN);
}

static void rejects_until_its_time_is_over_then_admits_one_probe(void)
{
    uint64_t clock = 70000;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    EXPECT_EQ(nanobreaker_init_consecutive(&breaker, sizeof breaker, 1, &settings, NULL), NANOBREAKER_OK);
    fail(&breaker);
    clock += 400;
    uint32_t token = 7;
    uint32_t retry_after_ms = 0;
    EXPECT_EQ(nanobreaker_allow(&breaker, &token, &retry_after_ms), NANOBREAKER_REJECTED);
    EXPECT_EQ(token, NANOBREAKER_NO_TOKEN);
    EXPECT_EQ(retry_after_ms, 600);
    clock += 600;
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_OPEN);
    EXPECT_EQ(snapshot_of(&breaker).ready_to_probe, 1);
    EXPECT_EQ(nanobreaker_allow(&breaker, &token, &retry_after_ms), NANOBREAKER_OK);
    uint32_t second;
    EXPECT_EQ(nanobreaker_allow(&breaker, &second, NULL), NANOBREAKER_REJECTED);
    EXPECT_EQ(snapshot_of(&breaker).phase, NANOBREAKER_PHASE_HALF_OPEN);
    EXPECT_EQ(snapshot_of(&breaker).in_flight, 1);
    EXPECT_EQ(nanobreaker_record(&breaker, token, NANOBREAKER_OUTCOME_SUCCESS), NANOBREAKER_RECORDED_COUNTED);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);
    EXPECT_EQ(snapshot_of(&breaker).time_left_ms, NANOBREAKER_NEVER);
}

static void doubles_its_open_time_while_probes_fail(void)
{
    uint64_t clock = 1;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    EXPECT_EQ(nanobreaker_init_consecutive(&breaker, sizeof breaker, 1, &settings, NULL), NANOBREAKER_OK);
    for (uint32_t trip = 0; trip < 5; trip++) {
        fail(&breaker);
        uint32_t expected = trip < 3 ? UINT32_C(1000) << trip : 8000;
        nanobreaker_snapshot_t snapshot = snapshot_of(&breaker);
        EXPECT_EQ(snapshot.streak, trip);
        /* On a chip with words of 32 bits late by a unit at most, never early. */
        EXPECT(snapshot.time_left_ms >= expected && snapshot.time_left_ms <= expected + expected / 1000);
        clock += snapshot.time_left_ms;
    }
}

static void counts_as_many_probes_as_the_settings_ask_for(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    settings.max_probes = 3;
    settings.probe_successes = 2;
    settings.probe_failures = 2;
    settings.ramp_ms = 500;
    EXPECT_EQ(nanobreaker_init_consecutive(&breaker, sizeof breaker, 1, &settings, NULL), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_seed(&breaker, 12345), NANOBREAKER_OK);
    fail(&breaker);
    clock += 1000;
    uint32_t tokens[4];
    for (int probe = 0; probe < 3; probe++) {
        EXPECT_EQ(nanobreaker_allow(&breaker, &tokens[probe], NULL), NANOBREAKER_OK);
    }
    EXPECT_EQ(nanobreaker_allow(&breaker, &tokens[3], NULL), NANOBREAKER_REJECTED);
    nanobreaker_record(&breaker, tokens[0], NANOBREAKER_OUTCOME_FAILURE);
    nanobreaker_record(&breaker, tokens[1], NANOBREAKER_OUTCOME_SUCCESS);
    nanobreaker_snapshot_t snapshot = snapshot_of(&breaker);
    EXPECT_EQ(snapshot.phase, NANOBREAKER_PHASE_HALF_OPEN);
    EXPECT_EQ(snapshot.in_flight, 1);
    EXPECT_EQ(snapshot.succeeded, 1);
    EXPECT_EQ(snapshot.failed, 1);
    nanobreaker_record(&breaker, tokens[2], NANOBREAKER_OUTCOME_SUCCESS);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_RECOVERING);
    clock += 500;
    EXPECT_EQ(succeed(&breaker), NANOBREAKER_RECORDED_COUNTED);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);
}

static void a_lost_probe_gives_its_place_back_when_its_lease_ends(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    settings.probe_lease_ms = 64;
    EXPECT_EQ(nanobreaker_init_consecutive(&breaker, sizeof breaker, 1, &settings, NULL), NANOBREAKER_OK);
    fail(&breaker);
    clock += 1000;
    uint32_t lost;
    EXPECT_EQ(nanobreaker_allow(&breaker, &lost, NULL), NANOBREAKER_OK);
    clock += 80;
    EXPECT_EQ(fail(&breaker), NANOBREAKER_REJECTED);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_OPEN);
    EXPECT_EQ(nanobreaker_record(&breaker, lost, NANOBREAKER_OUTCOME_SUCCESS), NANOBREAKER_RECORDED_STALE);
}

static void takes_every_outcome_for_what_it_is(void)
{
    static const struct {
        uint32_t outcome;
        int32_t recorded;
        int32_t phase;
    } CASES[] = {
        {NANOBREAKER_OUTCOME_SUCCESS, NANOBREAKER_RECORDED_COUNTED, NANOBREAKER_PHASE_CLOSED},
        {NANOBREAKER_OUTCOME_SLOW, NANOBREAKER_RECORDED_COUNTED, NANOBREAKER_PHASE_OPEN},
        {NANOBREAKER_OUTCOME_FAILURE, NANOBREAKER_RECORDED_COUNTED, NANOBREAKER_PHASE_OPEN},
        {NANOBREAKER_OUTCOME_SLOW_FAILURE, NANOBREAKER_RECORDED_COUNTED, NANOBREAKER_PHASE_OPEN},
        {NANOBREAKER_OUTCOME_IGNORED, NANOBREAKER_RECORDED_IGNORED, NANOBREAKER_PHASE_CLOSED},
        {NANOBREAKER_OUTCOME_CANCELLED, NANOBREAKER_RECORDED_IGNORED, NANOBREAKER_PHASE_CLOSED},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        uint64_t clock = 0;
        nanobreaker_t breaker = {0};
        nanobreaker_settings_t settings = one_second(&clock);
        EXPECT_EQ(nanobreaker_init_consecutive(&breaker, sizeof breaker, 1, &settings, NULL), NANOBREAKER_OK);
        uint32_t token;
        EXPECT_EQ(nanobreaker_allow(&breaker, &token, NULL), NANOBREAKER_OK);
        EXPECT_EQ(nanobreaker_record(&breaker, token, CASES[i].outcome), CASES[i].recorded);
        EXPECT_EQ(nanobreaker_phase(&breaker), CASES[i].phase);
    }
}

static void does_what_operators_ask(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    EXPECT_EQ(nanobreaker_init_failures(&breaker, sizeof breaker, 5, 1000, &settings, NULL), NANOBREAKER_OK);
    uint32_t token;
    uint32_t retry_after_ms = 0;
    EXPECT_EQ(nanobreaker_allow(&breaker, &token, NULL), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_isolate(&breaker), 1);
    EXPECT_EQ(nanobreaker_isolate(&breaker), 0);
    EXPECT_EQ(nanobreaker_record(&breaker, token, NANOBREAKER_OUTCOME_SUCCESS), NANOBREAKER_RECORDED_STALE);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_ISOLATED);
    EXPECT_EQ(nanobreaker_allow(&breaker, &token, &retry_after_ms), NANOBREAKER_REJECTED);
    EXPECT_EQ(retry_after_ms, NANOBREAKER_NEVER);

    EXPECT_EQ(nanobreaker_disable(&breaker), 1);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_DISABLED);
    EXPECT_EQ(fail(&breaker), NANOBREAKER_RECORDED_IGNORED);
    EXPECT_EQ(nanobreaker_reset(&breaker), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);

    EXPECT_EQ(nanobreaker_shadow(&breaker, 1), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_trip(&breaker), 1);
    EXPECT_EQ(nanobreaker_trip(&breaker), 0);
    EXPECT_EQ(snapshot_of(&breaker).in_shadow, 1);
    EXPECT_EQ(succeed(&breaker), NANOBREAKER_RECORDED_IGNORED);
    EXPECT_EQ(nanobreaker_shadow(&breaker, 0), NANOBREAKER_OK);
    EXPECT_EQ(succeed(&breaker), NANOBREAKER_REJECTED);
}

static void opens_for_the_time_that_it_is_asked_or_advised(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    EXPECT_EQ(nanobreaker_init_consecutive(&breaker, sizeof breaker, 5, &settings, NULL), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_recover(&breaker), 0);
    EXPECT_EQ(nanobreaker_trip_for(&breaker, 2000), 1);
    EXPECT_EQ(nanobreaker_trip_for(&breaker, 1000), 0);
    uint32_t left_ms = snapshot_of(&breaker).time_left_ms;
    EXPECT(left_ms >= 2000 && left_ms <= 2004);
    EXPECT_EQ(nanobreaker_trip_for(&breaker, UINT32_MAX), 1);
    left_ms = snapshot_of(&breaker).time_left_ms;
    EXPECT(left_ms >= 8000 && left_ms <= 8004);
    EXPECT_EQ(nanobreaker_recover(&breaker), 1);
    EXPECT_EQ(snapshot_of(&breaker).ready_to_probe, 1);
    EXPECT_EQ(succeed(&breaker), NANOBREAKER_RECORDED_COUNTED);
    EXPECT_EQ(nanobreaker_advise(&breaker, 3000), 1);
    EXPECT_EQ(nanobreaker_advise(&breaker, 1000), 0);
    EXPECT_EQ(snapshot_of(&breaker).streak, 0);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_OPEN);
}

static void holds_a_trip_until_a_reset_where_it_latches(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    settings.latch = 1;
    EXPECT_EQ(nanobreaker_init_consecutive(&breaker, sizeof breaker, 1, &settings, NULL), NANOBREAKER_OK);
    fail(&breaker);
    clock += 1000000;
    EXPECT_EQ(fail(&breaker), NANOBREAKER_REJECTED);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_ISOLATED);
}

static void goes_on_after_a_reset_of_the_chip(void)
{
    uint64_t clock = 0;
    nanobreaker_t before = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    EXPECT_EQ(nanobreaker_init_consecutive(&before, sizeof before, 1, &settings, NULL), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_trip_for(&before, 2000), 1);
    clock += 500;
    uint64_t saved = 0;
    EXPECT_EQ(nanobreaker_save(&before, &saved), NANOBREAKER_OK);

    nanobreaker_t after = {0};
    EXPECT_EQ(nanobreaker_init_consecutive(&after, sizeof after, 1, &settings, NULL), NANOBREAKER_OK);
    clock = 90000; /* it has an arbitrary start */
    EXPECT_EQ(nanobreaker_restore(&after, saved, 600), NANOBREAKER_OK);
    uint32_t left_ms = snapshot_of(&after).time_left_ms;
    EXPECT(left_ms >= 900 && left_ms <= 912);
    nanobreaker_snapshot_t snapshot = snapshot_of(&after);
    EXPECT_EQ(nanobreaker_restore(&after, saved ^ 1, 0), NANOBREAKER_ERROR_DAMAGED);
    EXPECT_EQ(nanobreaker_restore(&after, 0, 0), NANOBREAKER_ERROR_DAMAGED);
    /* Whole, but of an earlier layout. */
    EXPECT_EQ(nanobreaker_restore(&after, UINT64_C(0x210b61000000000), 0), NANOBREAKER_ERROR_VERSION);
    EXPECT_EQ(snapshot_of(&after).generation, snapshot.generation);
    EXPECT_EQ(snapshot_of(&after).phase, snapshot.phase);
}

static void each_breaker_reads_the_clock_that_it_was_given(void)
{
    uint64_t clocks[2] = {0, 0};
    nanobreaker_t breakers[2] = {{{0}}, {{0}}};
    for (int i = 0; i < 2; i++) {
        nanobreaker_settings_t settings = one_second(&clocks[i]);
        EXPECT_EQ(nanobreaker_init_consecutive(&breakers[i], sizeof breakers[i], 1, &settings, NULL),
                  NANOBREAKER_OK);
        fail(&breakers[i]);
    }
    clocks[1] = 1000;
    EXPECT_EQ(succeed(&breakers[0]), NANOBREAKER_REJECTED);
    EXPECT_EQ(succeed(&breakers[1]), NANOBREAKER_RECORDED_COUNTED);
}

static void memory_is_free_again_once_a_breaker_has_ended(void)
{
    uint64_t clock = 0;
    nanobreaker_t breaker = {0};
    nanobreaker_settings_t settings = one_second(&clock);
    EXPECT_EQ(nanobreaker_init_failures(&breaker, sizeof breaker, 1, 1000, &settings, NULL), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_trip(&breaker), 1);
    EXPECT_EQ(nanobreaker_end(&breaker), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_ERROR_NOT_INITIALISED);
    EXPECT_EQ(nanobreaker_init_consecutive(&breaker, sizeof breaker, 1, &settings, NULL), NANOBREAKER_OK);
    EXPECT_EQ(nanobreaker_phase(&breaker), NANOBREAKER_PHASE_CLOSED);
}

int main(void)
{
    opens_on_failures_within_a_time_and_forgets_older_ones();
    opens_on_failures_in_a_row_but_not_across_a_success();
    opens_on_evidence_against_which_successes_weigh();
    rejects_until_its_time_is_over_then_admits_one_probe();
    doubles_its_open_time_while_probes_fail();
    counts_as_many_probes_as_the_settings_ask_for();
    a_lost_probe_gives_its_place_back_when_its_lease_ends();
    takes_every_outcome_for_what_it_is();
    does_what_operators_ask();
    opens_for_the_time_that_it_is_asked_or_advised();
    holds_a_trip_until_a_reset_where_it_latches();
    goes_on_after_a_reset_of_the_chip();
    each_breaker_reads_the_clock_that_it_was_given();
    memory_is_free_again_once_a_breaker_has_ended();
    return verdict("behaviour");
}
