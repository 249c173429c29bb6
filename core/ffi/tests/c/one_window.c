/* The smallest firmware with one breaker: what `check` measures. WINDOW says which window it has, 0 none.
 *
 * It plays a script, so that what is measured can do its work, and finds that the windows that were left
 * out are refused. What the device does is hidden from the compiler. */
#include <stddef.h>
#include <stdint.h>

#include "nanobreaker.h"

#ifndef WINDOW
#error "WINDOW is 0 for none, 1 for failures, 2 for consecutive failures, 3 for a cumulative sum"
#endif

volatile uint32_t now_ms = 1000;
volatile uint32_t device_fails = 1;

#if WINDOW == 0
int main(void)
{
    return device_fails == 1 && now_ms == 1000 ? 0 : 1;
}
#else
static nanobreaker_t breaker;

static uint64_t clock_ms(void *context)
{
    (void)context;
    return now_ms;
}

static int32_t use(void)
{
    uint32_t token;
    int32_t answer = nanobreaker_allow(&breaker, &token, NULL);
    if (answer != NANOBREAKER_OK) {
        return answer;
    }
    return nanobreaker_record(&breaker, token,
                              device_fails ? NANOBREAKER_OUTCOME_FAILURE : NANOBREAKER_OUTCOME_SUCCESS);
}

int main(void)
{
    nanobreaker_settings_t settings;
    nanobreaker_defaults(&settings, clock_ms, NULL);
    settings.open_for_ms = 500;
#if WINDOW == 1
    if (nanobreaker_init_failures(&breaker, sizeof breaker, 3, 10000, &settings, NULL) != NANOBREAKER_OK) {
        return 1;
    }
#elif WINDOW == 2
    if (nanobreaker_init_consecutive(&breaker, sizeof breaker, 3, &settings, NULL) != NANOBREAKER_OK) {
        return 1;
    }
#else
    static const nanobreaker_cusum_t CUSUM = {
        .calls_per_false_trip = 500000, .normal_ppm = 2000, .broken_ppm = 200000, .sustained_for_ms = 0};
    if (nanobreaker_init_cusum(&breaker, sizeof breaker, &CUSUM, &settings, NULL) != NANOBREAKER_OK) {
        return 1;
    }
#endif
    for (int failures = 0; failures < 3; failures++) {
        if (use() != NANOBREAKER_RECORDED_COUNTED) {
            return 1;
        }
    }
    if (use() != NANOBREAKER_REJECTED) {
        return 1;
    }
    now_ms += 500;
    device_fails = 0;
    if (use() != NANOBREAKER_RECORDED_COUNTED || use() != NANOBREAKER_RECORDED_COUNTED) {
        return 1;
    }
#ifdef OTHERS_LEFT_OUT
    static nanobreaker_t other;
    int32_t refused = 0;
    refused += nanobreaker_init_failures(&other, sizeof other, 1, 1, &settings, NULL) == NANOBREAKER_ERROR_NOT_BUILT;
    refused += nanobreaker_init_consecutive(&other, sizeof other, 1, &settings, NULL) == NANOBREAKER_ERROR_NOT_BUILT;
    refused += nanobreaker_init_cusum(&other, sizeof other, NULL, &settings, NULL) == NANOBREAKER_ERROR_NOT_BUILT;
    if (refused != 2) {
        return 1;
    }
#endif
    return 0;
}
#endif
