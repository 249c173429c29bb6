/* The timer interrupt of a Cortex-M. */
#ifndef CORTEX_M_H
#define CORTEX_M_H

#include <stdint.h>

/* Calls `then` in an interrupt, every so many cycles of the processor. */
void tick_every(uint32_t cycles, void (*then)(void));

/* Ends that. */
void tick_no_more(void);

#endif
