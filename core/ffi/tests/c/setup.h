/* A clock that is set by hand, and breakers on it. */
#ifndef SETUP_H
#define SETUP_H

#include <stdint.h>

#include "nanobreaker.h"

/* A nanobreaker_clock_t whose context is a uint64_t of milliseconds. */
uint64_t manual_ms(void *context);

/* The defaults, but for an open time of one second that doubles up to eight. */
nanobreaker_settings_t one_second(uint64_t *clock);

/* Asks for a call and makes it fail, or succeed; what recording it answered, or the rejection. */
int32_t fail(nanobreaker_t *breaker);
int32_t succeed(nanobreaker_t *breaker);

/* What a snapshot says. */
nanobreaker_snapshot_t snapshot_of(const nanobreaker_t *breaker);

#endif
