/*
 * What driver_loop.c takes from a real-time kernel and its bus driver. The names and their meaning are
 * Zephyr's: there, include <zephyr/kernel.h> and <zephyr/drivers/i2c.h> in its place. simulated_kernel.c
 * implements them for a host and for an emulated board.
 */
#ifndef ZEPHYR_LIKE_H
#define ZEPHYR_LIKE_H

#include <stdint.h>

/* A device of the kernel. */
struct device {
    const char *name;
};

/* Milliseconds since the system booted. */
int64_t k_uptime_get(void);

/* Lets other threads run for so many milliseconds. */
int32_t k_msleep(int32_t ms);

/* Prints a line of a text, a number and a text. */
void printk(const char *before, int32_t number, const char *after);

/* Writes and then reads on the I2C bus; 0, or a negative number. It blocks for up to 25 ms when the device
 * holds the clock line. */
int i2c_write_read(const struct device *bus, uint16_t address, const void *write, uint32_t writes, void *read,
                   uint32_t reads);

#endif
