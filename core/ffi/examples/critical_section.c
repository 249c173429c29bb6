/*
 * What a chip without a compare-and-swap (Cortex-M0, some RISC-V) has to supply: how interrupts are masked.
 *
 * The library calls these around each access to a word, about a dozen instructions, and never one within
 * another. The names are those of Rust's crate `critical-section`, whose interface, version 1.0, they are. On chips
 * with a compare-and-swap the library does not refer to them.
 *
 * This is for a Cortex-M with one core. Where a kernel or a vendor's library masks interrupts, let it:
 *
 *     Zephyr       return irq_lock();                       irq_unlock(state);
 *     FreeRTOS     return taskENTER_CRITICAL_FROM_ISR();    taskEXIT_CRITICAL_FROM_ISR(state);
 *     Pico SDK     return spin_lock_blocking(lock);         spin_unlock(lock, state);
 *
 * A chip with two cores needs a lock between them as well: the last line is for the RP2040.
 */
#include <stdint.h>

uint32_t _critical_section_1_0_acquire(void);
void _critical_section_1_0_release(uint32_t state);

uint32_t _critical_section_1_0_acquire(void)
{
    uint32_t primask;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(primask) : : "memory");
    return primask;
}

void _critical_section_1_0_release(uint32_t primask)
{
    __asm__ volatile("msr primask, %0" : : "r"(primask) : "memory");
}
