#include "setup.h"

#include "expect.h"

uint64_t manual_ms(void *context)
{
    return *(const uint64_t *)context;
}

nanobreaker_settings_t one_second(uint64_t *clock)
{
    nanobreaker_settings_t settings;
    EXPECT_EQ(nanobreaker_defaults(&settings, manual_ms, clock), NANOBREAKER_OK);
    settings.open_for_ms = 1000;
    settings.max_open_ms = 8000;
    return settings;
}

static int32_t call(nanobreaker_t *breaker, uint32_t outcome)
{
    uint32_t token;
    int32_t answer = nanobreaker_allow(breaker, &token, NULL);
    return answer == NANOBREAKER_OK ? nanobreaker_record(breaker, token, outcome) : answer;
}

int32_t fail(nanobreaker_t *breaker)
{
    return call(breaker, NANOBREAKER_OUTCOME_FAILURE);
}

int32_t succeed(nanobreaker_t *breaker)
{
    return call(breaker, NANOBREAKER_OUTCOME_SUCCESS);
}

nanobreaker_snapshot_t snapshot_of(const nanobreaker_t *breaker)
{
    nanobreaker_snapshot_t snapshot = {0};
    EXPECT_EQ(nanobreaker_snapshot(breaker, &snapshot), NANOBREAKER_OK);
    return snapshot;
}
