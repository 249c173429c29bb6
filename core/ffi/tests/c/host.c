/* The host's part of platform.h. */
#include "platform.h"

#include <stdio.h>

void platform_print(const char *text)
{
    fputs(text, stdout);
}
