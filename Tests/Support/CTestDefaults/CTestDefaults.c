#define _GNU_SOURCE
#include "CTestDefaults.h"
#include <string.h>
#include <stdlib.h>

// Limits how many tests run at the same time, also in a plain `swift test`: Swift Testing starts all at once, and a test
// that waits for a process would wait behind hundreds of others. The environment may have another number.
__attribute__((constructor)) static void limit_the_width(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "24", 0);
}

const void *ctest_find(const void *bytes, size_t count, const void *text, size_t length) {
    return memmem(bytes, count, text, length);
}
