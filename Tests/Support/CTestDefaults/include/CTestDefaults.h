// Settings of the tests' process, made before its main function: see CTestDefaults.c.
#include <stddef.h>

// memmem(3), which Swift does not import: where a text begins in another, or NULL.
const void *ctest_find(const void *bytes, size_t count, const void *text, size_t length);
