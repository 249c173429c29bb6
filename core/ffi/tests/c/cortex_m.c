/* A Cortex-M's part of platform.h, for a board under QEMU: start, interrupt, output and exit.
 *
 * There is no C library: the firmware stands alone. What the emulator offers through semihosting takes the
 * place of a console. */
#include "platform.h"

#include <stddef.h>
#include <stdint.h>

#include "cortex_m.h"

extern uint64_t data_start[], data_end[], data_source[], bss_start[], bss_end[], stack_top[];

int main(void);

/* The numbers of ARM's semihosting interface. */
#define SYS_WRITE0 0x04
#define SYS_EXIT 0x18
#define STOPPED_BY_APPLICATION 0x20026
#define STOPPED_BY_ERROR 0x20023

static void semihost(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void platform_print(const char *text)
{
    semihost(SYS_WRITE0, text);
}

__attribute__((noreturn)) static void finish(int status)
{
    semihost(SYS_EXIT, (const void *)(status == 0 ? STOPPED_BY_APPLICATION : STOPPED_BY_ERROR));
    for (;;) {
    }
}

void reset(void);

void reset(void)
{
    for (uint64_t *to = data_start, *from = data_source; to < data_end;) {
        *to++ = *from++;
    }
    for (uint64_t *to = bss_start; to < bss_end;) {
        *to++ = 0;
    }
    finish(main());
}

static void fault(void)
{
    platform_print("a fault of the processor\n");
    finish(1);
}

/* What the compilers call. */
void *memcpy(void *to, const void *from, size_t count);
void *memset(void *to, int byte, size_t count);
int memcmp(const void *left, const void *right, size_t count);

void *memcpy(void *to, const void *from, size_t count)
{
    volatile unsigned char *out = to;
    const unsigned char *in = from;
    while (count-- > 0) {
        *out++ = *in++;
    }
    return to;
}

void *memset(void *to, int byte, size_t count)
{
    volatile unsigned char *out = to;
    while (count-- > 0) {
        *out++ = (unsigned char)byte;
    }
    return to;
}

int memcmp(const void *left, const void *right, size_t count)
{
    const unsigned char *l = left;
    const unsigned char *r = right;
    for (; count > 0; count--, l++, r++) {
        if (*l != *r) {
            return *l - *r;
        }
    }
    return 0;
}

/* SysTick. */
#define SYST_CSR (*(volatile uint32_t *)0xE000E010)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018)

static void (*volatile on_tick)(void);

static void tick(void)
{
    if (on_tick != 0) {
        on_tick();
    }
}

void tick_every(uint32_t cycles, void (*then)(void))
{
    on_tick = then;
    SYST_RVR = cycles - 1;
    SYST_CVR = 0;
    SYST_CSR = 7; /* the processor's clock, with interrupt, on */
}

void tick_no_more(void)
{
    SYST_CSR = 0;
}

/* The first word is the stack; the rest are functions. */
union vector {
    const void *stack;
    void (*function)(void);
};

__attribute__((section(".vectors"), used)) static const union vector VECTORS[16] = {
    {.stack = stack_top},
    {.function = reset},
    {.function = fault}, /* NMI */
    {.function = fault}, /* hard fault */
    {.function = fault},
    {.function = fault},
    {.function = fault},
    [11] = {.function = fault},
    [14] = {.function = fault},
    [15] = {.function = tick},
};
