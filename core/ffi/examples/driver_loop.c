/*
 * A driver for a temperature sensor on an I2C bus, guarded by a breaker, and the loop that reads it.
 *
 * A sensor that hangs blocks its caller for 25 ms in every cycle of the control loop, and the other devices
 * on the bus with it. The breaker opens after three failures in a row: the loop then goes on with the last
 * good reading, knows how old it is, and asks the sensor again only once every two seconds (then four, then
 * eight).
 */
#include "nanobreaker.h"
#include "zephyr_like.h"

#define EIO 5
#define EAGAIN 11

#define SENSOR_ADDRESS 0x48
#define READINGS 600
#define CYCLE_MS 100

/* The driver: what each instance holds. The breaker is a part of it. */
struct sensor {
    const struct device *bus;
    nanobreaker_t breaker;
    int32_t last_millidegrees;
    int64_t last_read_ms;
};

static uint64_t uptime_ms(void *context)
{
    (void)context;
    return (uint64_t)k_uptime_get();
}

/* To be called once, before anything else. */
static int sensor_init(struct sensor *sensor)
{
    nanobreaker_settings_t settings;
    nanobreaker_defaults(&settings, uptime_ms, 0);
    settings.open_for_ms = 2000;
    settings.max_open_ms = 8000;
    int32_t error =
        nanobreaker_init_consecutive(&sensor->breaker, sizeof sensor->breaker, 3, &settings, 0);
    if (error != NANOBREAKER_OK) {
        printk("sensor: no breaker, error ", error, "");
        return -EIO;
    }
    return 0;
}

/* 0 with a new reading; -EAGAIN while the breaker is open; -EIO where the sensor failed. May be called by
 * any number of threads. */
static int sensor_fetch(struct sensor *sensor)
{
    static const uint8_t TEMPERATURE = 0x00;
    uint8_t raw[2];
    uint32_t token;

    if (nanobreaker_allow(&sensor->breaker, &token, 0) != NANOBREAKER_OK) {
        return -EAGAIN;
    }
    int failed = i2c_write_read(sensor->bus, SENSOR_ADDRESS, &TEMPERATURE, 1, raw, sizeof raw);
    nanobreaker_record(&sensor->breaker, token,
                       failed ? NANOBREAKER_OUTCOME_FAILURE : NANOBREAKER_OUTCOME_SUCCESS);
    if (failed) {
        return -EIO;
    }
    sensor->last_millidegrees = (raw[0] << 8 | raw[1]) * 1000 / 256;
    sensor->last_read_ms = k_uptime_get();
    return 0;
}

/* The application: reads the sensor ten times a second for a minute. Returns 0 if it did so while the
 * sensor was well, and spared the bus while it was not. */
static const struct device I2C0 = {"i2c0"};
static struct sensor outside = {.bus = &I2C0};

int main(void)
{
    int32_t fresh = 0;
    int32_t spared = 0;
    int32_t failed = 0;
    int32_t phase = NANOBREAKER_PHASE_CLOSED;

    if (sensor_init(&outside) != 0) {
        return 1;
    }
    for (int reading = 0; reading < READINGS; reading++) {
        switch (sensor_fetch(&outside)) {
        case 0:
            fresh++;
            break;
        case -EAGAIN:
            spared++;
            break;
        default:
            failed++;
            break;
        }
        if (nanobreaker_phase(&outside.breaker) != phase) {
            phase = nanobreaker_phase(&outside.breaker);
            printk("at ", (int32_t)k_uptime_get(), phase == NANOBREAKER_PHASE_CLOSED ? " ms: closed" : " ms: open");
        }
        k_msleep(CYCLE_MS);
    }
    printk("", fresh, " readings");
    printk("", failed, " failures, each blocked the bus for 25 ms");
    printk("", spared, " times the bus was spared");
    printk("the last reading is ", outside.last_millidegrees, " millidegrees");

    int holds = fresh > 300 && failed >= 3 && failed < 10 && spared > 100 && outside.last_millidegrees == 21500 &&
                phase == NANOBREAKER_PHASE_CLOSED;
    printk("driver loop: ", holds, holds ? ", holds" : ", BROKEN");
    return holds ? 0 : 1;
}
