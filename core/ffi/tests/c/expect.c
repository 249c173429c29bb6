#include "expect.h"

#include "platform.h"

static int expectations;
static int faults;

void print_number(int64_t number)
{
    char digits[24];
    int at = 23;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0) {
        digits[--at] = '-';
    }
    platform_print(&digits[at]);
}

void expect_eq(const char *file, int line, const char *text, int64_t found, int64_t expected)
{
    expectations++;
    if (found == expected) {
        return;
    }
    faults++;
    platform_print(file);
    platform_print(":");
    print_number(line);
    platform_print(": ");
    platform_print(text);
    platform_print(" is ");
    print_number(found);
    platform_print(", not ");
    print_number(expected);
    platform_print("\n");
}

int verdict(const char *name)
{
    platform_print(name);
    platform_print(": ");
    print_number(expectations);
    platform_print(faults == 0 ? " expectations hold\n" : " expectations, of which fail: ");
    if (faults != 0) {
        print_number(faults);
        platform_print("\n");
    }
    return faults == 0 && expectations > 0 ? 0 : 1;
}
