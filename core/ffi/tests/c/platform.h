/* What the programs need of the machine they run on: a host, or a board. */
#ifndef PLATFORM_H
#define PLATFORM_H

/* Prints a text as it is. */
void platform_print(const char *text);

#endif
