/*
 * zephyr_like.h for an example that runs anywhere: time passes when somebody sleeps or waits for the bus,
 * and the sensor hangs from the tenth second to the thirtieth.
 */
#include "zephyr_like.h"

#include "expect.h"
#include "platform.h"

static int64_t uptime_ms;

int64_t k_uptime_get(void)
{
    return uptime_ms;
}

int32_t k_msleep(int32_t ms)
{
    uptime_ms += ms;
    return 0;
}

void printk(const char *before, int32_t number, const char *after)
{
    platform_print(before);
    print_number(number);
    platform_print(after);
    platform_print("\n");
}

int i2c_write_read(const struct device *bus, uint16_t address, const void *write, uint32_t writes, void *read,
                   uint32_t reads)
{
    (void)bus, (void)address, (void)write, (void)writes;
    if (uptime_ms >= 10000 && uptime_ms < 30000) {
        uptime_ms += 25;
        return -5;
    }
    /* 21.5 degrees, in 256ths. */
    uint8_t *bytes = read;
    for (uint32_t i = 0; i < reads; i++) {
        bytes[i] = i == 0 ? 21 : 128;
    }
    return 0;
}
