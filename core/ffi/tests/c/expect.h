/* Expectations that print what they found and let the program go on. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdint.h>

/* Two integers are the same. */
#define EXPECT_EQ(found, expected) \
    expect_eq(__FILE__, __LINE__, #found, (int64_t)(found), (int64_t)(expected))

/* A condition holds. */
#define EXPECT(condition) expect_eq(__FILE__, __LINE__, #condition, (condition) ? 1 : 0, 1)

void expect_eq(const char *file, int line, const char *text, int64_t found, int64_t expected);

/* Prints a number. */
void print_number(int64_t number);

/* Prints a verdict; returns what main is to return. */
int verdict(const char *name);

#endif
