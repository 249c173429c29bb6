/*
 * nanobreaker: a circuit breaker for servers and firmware. No allocation: the memory is yours.
 *
 * Made from the library's source by cbindgen. Do not edit it.
 *
 * A function that was misused answers with a negative number, one of NANOBREAKER_ERROR_...: a pointer is
 * null or misaligned, the memory holds no breaker, a setting or a number is outside its limits. The README
 * tells how to link, and what holds for threads and interrupts. Two promises nobody can check:
 *
 * - Any other pointer points to memory of its type.
 * - A breaker's memory is left alone, and stays where it is, while it is used.
 */

#ifndef NANOBREAKER_H
#define NANOBREAKER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Whether the library keeps its state in words of 64 bits: where the processor exchanges them without a
 * lock. Microcontrollers do not, and take half the memory. Should this be wrong for your processor, then
 * initialising fails with NANOBREAKER_ERROR_TOO_SMALL: define it.
 */
#if !defined(NANOBREAKER_WIDE) && !(defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M') \
    && !defined(__ARM_PROFILE_M__) && !(defined(__riscv_xlen) && __riscv_xlen == 32) \
    && !defined(__XTENSA__)
#define NANOBREAKER_WIDE
#endif

#if defined(__GNUC__)
#define NANOBREAKER_ALIGNED(bytes) __attribute__((aligned(bytes)))
#define NANOBREAKER_MUST_USE __attribute__((warn_unused_result))
#elif defined(_MSC_VER)
#define NANOBREAKER_ALIGNED(bytes) __declspec(align(bytes))
#define NANOBREAKER_MUST_USE
#else
#define NANOBREAKER_ALIGNED(bytes)
#define NANOBREAKER_MUST_USE
#endif

/*
 Done; for `nanobreaker_allow`: the call may be made.
 */
#define NANOBREAKER_OK 0

/*
 The call must not be made.
 */
#define NANOBREAKER_REJECTED 1

/*
 A pointer is null.
 */
#define NANOBREAKER_ERROR_NULL -1

/*
 A pointer is not aligned as its type asks.
 */
#define NANOBREAKER_ERROR_MISALIGNED -2

/*
 The memory is smaller than this kind of breaker.
 */
#define NANOBREAKER_ERROR_TOO_SMALL -3

/*
 The memory holds no breaker, or the settings no settings: neither was initialised, or it was
 copied from where it was.
 */
#define NANOBREAKER_ERROR_NOT_INITIALISED -4

/*
 The memory holds a breaker already, or another thread is initialising it: see `nanobreaker_end`.
 */
#define NANOBREAKER_ERROR_IN_USE -5

/*
 This kind of window was left out when the library was built.
 */
#define NANOBREAKER_ERROR_NOT_BUILT -6

/*
 A setting is outside its limits: `nanobreaker_fault_t` tells which.
 */
#define NANOBREAKER_ERROR_SETTING -7

/*
 The number is no outcome.
 */
#define NANOBREAKER_ERROR_OUTCOME -8

/*
 The number is no token: the call was rejected.
 */
#define NANOBREAKER_ERROR_TOKEN -9

/*
 The number is no saved state: memory that was never written, or has lost bits.
 */
#define NANOBREAKER_ERROR_DAMAGED -10

/*
 The state was saved by a version of this library with another layout.
 */
#define NANOBREAKER_ERROR_VERSION -11

/*
 Calls pass and the window judges them.
 */
#define NANOBREAKER_PHASE_CLOSED 1

/*
 Calls are rejected until the open time is over.
 */
#define NANOBREAKER_PHASE_OPEN 2

/*
 A few probes pass and decide whether to close or to open again.
 */
#define NANOBREAKER_PHASE_HALF_OPEN 3

/*
 The probes succeeded; a growing share of the calls passes.
 */
#define NANOBREAKER_PHASE_RECOVERING 4

/*
 Held open until a reset.
 */
#define NANOBREAKER_PHASE_ISOLATED 5

/*
 All calls pass and none is judged, until a reset.
 */
#define NANOBREAKER_PHASE_DISABLED 6

/*
 The dependency did its work.
 */
#define NANOBREAKER_OUTCOME_SUCCESS 1

/*
 It did its work, but took longer than the caller accepts: a failure to these windows.
 */
#define NANOBREAKER_OUTCOME_SLOW 2

/*
 It failed.
 */
#define NANOBREAKER_OUTCOME_FAILURE 3

/*
 It failed, and took longer than the caller accepts: a timeout.
 */
#define NANOBREAKER_OUTCOME_SLOW_FAILURE 4

/*
 It answered in a way that says nothing about its health.
 */
#define NANOBREAKER_OUTCOME_IGNORED 5

/*
 The caller gave up before an answer came.
 */
#define NANOBREAKER_OUTCOME_CANCELLED 6

/*
 The outcome was judged.
 */
#define NANOBREAKER_RECORDED_COUNTED 2

/*
 The outcome is one that does not count, or belongs to a call that is not judged.
 */
#define NANOBREAKER_RECORDED_IGNORED 3

/*
 The token is from an earlier generation, or was spent before: nothing changed.
 */
#define NANOBREAKER_RECORDED_STALE 4

/*
 What a rejected call gets in place of a token.
 */
#define NANOBREAKER_NO_TOKEN 4294967295

/*
 In place of milliseconds: no time ends it. Of a rejection: until a reset.
 */
#define NANOBREAKER_NEVER 4294967295

/*
 In place of a setting's milliseconds: the same as `open_for_ms`.
 */
#define NANOBREAKER_SAME_AS_OPEN_FOR 2147483648

#if defined(NANOBREAKER_WIDE)
/*
 The largest threshold of a breaker of failures, see `nanobreaker_init_failures`.
 */
#define NANOBREAKER_MAX_THRESHOLD 64
#endif

#if !defined(NANOBREAKER_WIDE)
/*
 The largest threshold of a breaker of failures, see `nanobreaker_init_failures`.
 */
#define NANOBREAKER_MAX_THRESHOLD 16
#endif

/*
 The alignment of every breaker, in bytes.
 */
#define NANOBREAKER_ALIGN 8

#if defined(NANOBREAKER_WIDE)
/*
 The bytes of a breaker of failures, and of `nanobreaker_t`: enough for every kind.
 */
#define NANOBREAKER_SIZE 608
#endif

#if !defined(NANOBREAKER_WIDE)
/*
 The bytes of a breaker of failures, and of `nanobreaker_t`: enough for every kind.
 */
#define NANOBREAKER_SIZE 128
#endif

#if defined(NANOBREAKER_WIDE)
/*
 The bytes of a breaker of consecutive failures.
 */
#define NANOBREAKER_CONSECUTIVE_SIZE 96
#endif

#if !defined(NANOBREAKER_WIDE)
/*
 The bytes of a breaker of consecutive failures.
 */
#define NANOBREAKER_CONSECUTIVE_SIZE 64
#endif

#if defined(NANOBREAKER_WIDE)
/*
 The bytes of a breaker with a cumulative sum.
 */
#define NANOBREAKER_CUSUM_SIZE 104
#endif

#if !defined(NANOBREAKER_WIDE)
/*
 The bytes of a breaker with a cumulative sum.
 */
#define NANOBREAKER_CUSUM_SIZE 72
#endif

/*
 A setting that this version of the library has no number for.
 */
#define NANOBREAKER_FIELD_UNKNOWN 0

/*
 `threshold`
 */
#define NANOBREAKER_FIELD_THRESHOLD 1

/*
 `within_ms`
 */
#define NANOBREAKER_FIELD_WITHIN_MS 2

/*
 `normal_ppm`
 */
#define NANOBREAKER_FIELD_NORMAL_PPM 3

/*
 `broken_ppm`
 */
#define NANOBREAKER_FIELD_BROKEN_PPM 4

/*
 `calls_per_false_trip`
 */
#define NANOBREAKER_FIELD_CALLS_PER_FALSE_TRIP 5

/*
 `sustained_for_ms`
 */
#define NANOBREAKER_FIELD_SUSTAINED_FOR_MS 6

/*
 `open_for_ms`
 */
#define NANOBREAKER_FIELD_OPEN_FOR_MS 7

/*
 `max_open_ms`
 */
#define NANOBREAKER_FIELD_MAX_OPEN_MS 8

/*
 `relapse_within_ms`
 */
#define NANOBREAKER_FIELD_RELAPSE_WITHIN_MS 9

/*
 `max_probes`
 */
#define NANOBREAKER_FIELD_MAX_PROBES 10

/*
 `probe_successes`
 */
#define NANOBREAKER_FIELD_PROBE_SUCCESSES 11

/*
 `probe_failures`
 */
#define NANOBREAKER_FIELD_PROBE_FAILURES 12

/*
 `probe_lease_ms`
 */
#define NANOBREAKER_FIELD_PROBE_LEASE_MS 13

/*
 `ramp_ms`
 */
#define NANOBREAKER_FIELD_RAMP_MS 14

/*
 `jitter_permille`
 */
#define NANOBREAKER_FIELD_JITTER_PERMILLE 15

/*
 `latch`
 */
#define NANOBREAKER_FIELD_LATCH 16

/*
 Milliseconds since an arbitrary start, best from a monotonic clock. It gets the context of the
 settings, and is called by whoever uses the breaker: from several threads or interrupts at once.
 */
typedef uint64_t (*nanobreaker_clock_t)(void *context);

/*
 How long a breaker opens and what closes it again. Filled by `nanobreaker_defaults`; then change
 what should be different. All times are from 1 to 67108864 ms (18.6 hours) unless it says otherwise.
 Several breakers may be initialised with the same settings, which are not needed afterwards.
 */
typedef struct nanobreaker_settings_t {
  /*
   Where the time comes from.
   */
  nanobreaker_clock_t clock;
  /*
   What the clock is given. It must live as long as the breaker.
   */
  void *context;
  /*
   Set by `nanobreaker_defaults`: leave it.
   */
  uint32_t mark;
  /*
   How long a first trip rejects calls. By default 10000 ms.
   */
  uint32_t open_for_ms;
  /*
   Each trip in a row doubles the open time up to here, and nobody may ask for a longer one; at
   least `open_for_ms`. By default NANOBREAKER_SAME_AS_OPEN_FOR: no doubling.
   */
  uint32_t max_open_ms;
  /*
   A trip so soon after closing counts as one in a row. By default NANOBREAKER_SAME_AS_OPEN_FOR.
   */
  uint32_t relapse_within_ms;
  /*
   How many probes may be in flight at once while half-open: from 1, the default, to 63 (to 7 on
   a 32-bit chip).
   */
  uint32_t max_probes;
  /*
   How many probes must succeed to close: from 1, the default, to 64 (8).
   */
  uint32_t probe_successes;
  /*
   How many probes must fail to open again: from 1, the default, to 16 (4).
   */
  uint32_t probe_failures;
  /*
   How long the probes in flight may stay without any answer before the round has failed. By
   default NANOBREAKER_SAME_AS_OPEN_FOR.
   */
  uint32_t probe_lease_ms;
  /*
   How long after half-open the admitted share of calls grows; 0, the default, admits all at once.
   */
  uint32_t ramp_ms;
  /*
   Which part of an open time may be cut off at random, in thousandths: from 0, the default, to
   1000. See `nanobreaker_seed`.
   */
  uint32_t jitter_permille;
  /*
   1 if a trip holds the breaker open until a reset; 0 by default.
   */
  uint32_t latch;
} nanobreaker_settings_t;

/*
 Memory for one breaker of any kind, which is yours: a static, a part of a structure, from the heap.
 It must be zero, or at least not hold a breaker, when it is initialised. It must neither be copied
 nor be moved afterwards.
 */
typedef struct NANOBREAKER_ALIGNED(8) nanobreaker_t {
  /*
   The library's own.
   */
  uint8_t opaque[NANOBREAKER_SIZE];
} nanobreaker_t;

/*
 Why settings were refused.
 */
typedef struct nanobreaker_fault_t {
  /*
   What the setting was.
   */
  uint64_t value;
  /*
   The smallest value that is allowed.
   */
  uint64_t minimum;
  /*
   The largest value that is allowed.
   */
  uint64_t maximum;
  /*
   Which setting: one of NANOBREAKER_FIELD_...
   */
  uint32_t field;
} nanobreaker_fault_t;

/*
 What a breaker with a cumulative sum asks.
 */
typedef struct nanobreaker_cusum_t {
  /*
   How many calls pass, on average, between two trips that are wrong: from 2 to 10^15.
   */
  uint64_t calls_per_false_trip;
  /*
   The failure rate of a well dependency, in parts per million: from 1 to 999998.
   */
  uint32_t normal_ppm;
  /*
   The failure rate that is to be found out, in parts per million: above normal, to 999999.
   */
  uint32_t broken_ppm;
  /*
   How long the evidence must have been mounting before it trips, in milliseconds, to 16777216;
   0 is not at all, and must be 0 on a 32-bit chip.
   */
  uint32_t sustained_for_ms;
} nanobreaker_cusum_t;

/*
 A breaker at one moment: the fields belong together.
 */
typedef struct nanobreaker_snapshot_t {
  /*
   One of NANOBREAKER_PHASE_...
   */
  int32_t phase;
  /*
   Milliseconds until the open time, the lease of the probes in flight or the ramp is over; 0 when it
   is, NANOBREAKER_NEVER in phases that no time ends.
   */
  uint32_t time_left_ms;
  /*
   1 if the breaker is open but its time is over, so that the next call is admitted as a probe.
   */
  uint32_t ready_to_probe;
  /*
   1 if the breaker judges but never rejects.
   */
  uint32_t in_shadow;
  /*
   Steps on entering open, isolated or disabled, and by every reset; wraps.
   */
  uint32_t generation;
  /*
   How often in a row it tripped again without having stayed healthy: 0 after a first trip.
   */
  uint32_t streak;
  /*
   Probes in flight, while half-open.
   */
  uint32_t in_flight;
  /*
   Probes that succeeded in this half-open round.
   */
  uint32_t succeeded;
  /*
   Probes that failed in this half-open round.
   */
  uint32_t failed;
} nanobreaker_snapshot_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Fills settings with the defaults, and with the clock, which must not be null.
 */
int32_t nanobreaker_defaults(struct nanobreaker_settings_t *settings,
                             nanobreaker_clock_t clock,
                             void *context);

/*
 Ends a breaker: its memory may be freed, or initialised again. Nobody may be using it, or use it
 afterwards. Statics that live for ever need no end.
 */
int32_t nanobreaker_end(struct nanobreaker_t *breaker);

/*
 Makes a breaker that opens on `threshold` failures within `within_ms` milliseconds. The threshold
 is from 1 to NANOBREAKER_MAX_THRESHOLD, the time to 67108864 ms (18.6 hours).

 `size` is `sizeof` the breaker's memory. Where a setting is refused, `fault` tells which one and
 what is allowed; it may be null. Nothing is written to `breaker` unless the answer is NANOBREAKER_OK.
 */
NANOBREAKER_MUST_USE
int32_t nanobreaker_init_failures(struct nanobreaker_t *breaker,
                                  size_t size,
                                  uint32_t threshold,
                                  uint32_t within_ms,
                                  const struct nanobreaker_settings_t *settings,
                                  struct nanobreaker_fault_t *fault);

/*
 Makes a breaker that opens on `threshold` failures with no success between them, however far apart
 in time. The threshold is from 1 to 65535.

 `size` is `sizeof` the breaker's memory, at least NANOBREAKER_CONSECUTIVE_SIZE. Where a setting is
 refused, `fault` tells which one and what is allowed; it may be null. Nothing is written to `breaker`
 unless the answer is NANOBREAKER_OK.
 */
NANOBREAKER_MUST_USE
int32_t nanobreaker_init_consecutive(struct nanobreaker_t *breaker,
                                     size_t size,
                                     uint32_t threshold,
                                     const struct nanobreaker_settings_t *settings,
                                     struct nanobreaker_fault_t *fault);

/*
 Makes a breaker that opens on evidence that the dependency is broken: failures weigh for it,
 successes against it. The same settings are right at one call a minute and at a million a second.

 `size` is `sizeof` the breaker's memory, at least NANOBREAKER_CUSUM_SIZE. Where a setting is refused,
 `fault` tells which one and what is allowed; it may be null. Nothing is written to `breaker` unless
 the answer is NANOBREAKER_OK. Neither `cusum` nor `settings` is needed afterwards.
 */
NANOBREAKER_MUST_USE
int32_t nanobreaker_init_cusum(struct nanobreaker_t *breaker,
                               size_t size,
                               const struct nanobreaker_cusum_t *cusum,
                               const struct nanobreaker_settings_t *settings,
                               struct nanobreaker_fault_t *fault);

/*
 Asks for the right to make one call. NANOBREAKER_OK: make the call, and spend the token with
 `nanobreaker_record`. NANOBREAKER_REJECTED: do not make it; asking again makes sense after
 `retry_after_ms` milliseconds (NANOBREAKER_NEVER: not before a reset).

 `retry_after_ms` may be null, and is written only where the call is rejected. `token` is
 NANOBREAKER_NO_TOKEN then, and where the answer is an error.
 */
NANOBREAKER_MUST_USE
int32_t nanobreaker_allow(struct nanobreaker_t *breaker,
                          uint32_t *token,
                          uint32_t *retry_after_ms);

/*
 Spends a token with the outcome of its call, one of NANOBREAKER_OUTCOME_...; answers with one of
 NANOBREAKER_RECORDED_... Each token is to be spent once, with the breaker that it came from. A probe
 whose token is never spent holds its place until `probe_lease_ms` is over.
 */
int32_t nanobreaker_record(struct nanobreaker_t *breaker,
                           uint32_t token,
                           uint32_t outcome);

/*
 Takes a snapshot. It makes no transition.
 */
int32_t nanobreaker_snapshot(const struct nanobreaker_t *breaker,
                             struct nanobreaker_snapshot_t *snapshot);

/*
 The phase: one of NANOBREAKER_PHASE_... An open breaker whose time is over is still open until the
 next call; a snapshot tells.
 */
int32_t nanobreaker_phase(const struct nanobreaker_t *breaker);

/*
 Trips the breaker as if its window had. Answers 1 if it opened; one that is open, isolated or
 disabled stays as it is: 0.
 */
int32_t nanobreaker_trip(struct nanobreaker_t *breaker);

/*
 Opens the breaker for the time that the dependency itself asked for, at most for `max_open_ms`. One
 that is open already stays open for that long from now, if that is later. Answers 1 if anything
 changed; an isolated or disabled breaker stays as it is: 0.
 */
int32_t nanobreaker_trip_for(struct nanobreaker_t *breaker, uint32_t ms);

/*
 Opens the breaker on hearsay: others found the dependency broken. At most for twice `max_open_ms` and
 ten seconds. Only a breaker that is closed or recovering opens; one that is open stays open for that
 long from now, if that is later. Answers 1 if anything changed, else 0.
 */
int32_t nanobreaker_advise(struct nanobreaker_t *breaker,
                           uint32_t ms);

/*
 Ends an open time: the next call is a probe. Answers 1 if anything changed, else 0.
 */
int32_t nanobreaker_recover(struct nanobreaker_t *breaker);

/*
 Holds the breaker open until a reset, whatever comes. Answers 1 if anything changed, else 0.
 */
int32_t nanobreaker_isolate(struct nanobreaker_t *breaker);

/*
 Lets all calls pass and judges none, until a reset. Answers 1 if anything changed, else 0.
 */
int32_t nanobreaker_disable(struct nanobreaker_t *breaker);

/*
 The dependency is repaired: closed, with an empty window and no streak. Tokens given out before are
 stale from here on. Shadow stays as it is.
 */
int32_t nanobreaker_reset(struct nanobreaker_t *breaker);

/*
 Switches shadow on, or off where `on` is 0. In shadow the breaker judges as ever, but rejects no one.
 */
int32_t nanobreaker_shadow(struct nanobreaker_t *breaker,
                           int32_t on);

/*
 Gives this breaker a random number of its own, so that jitter and the ramp's pattern differ between
 the members of a fleet: a serial number, a hardware random number.
 */
int32_t nanobreaker_seed(struct nanobreaker_t *breaker, uint32_t seed);

/*
 The state as an integer, to be kept over a reset of the chip (in retained memory, in flash) and given
 to `nanobreaker_restore` afterwards: phase, shadow, streak and what is left of an open time. The same
 on every chip.
 */
int32_t nanobreaker_save(const struct nanobreaker_t *breaker,
                         uint64_t *saved);

/*
 Puts the breaker into a state that was saved `slept_ms` milliseconds ago. Where the integer is no
 saved state it answers with an error, and the breaker stays as it is.
 */
int32_t nanobreaker_restore(struct nanobreaker_t *breaker, uint64_t saved, uint64_t slept_ms);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* NANOBREAKER_H */
