// Functions of stores that do not support them.
#include <err.h>

#include "store.h"

#define WEAK __attribute__((weak))

static void cannot(const char *what) { errx(64, "%s: this store cannot do that", what); }

WEAK void store_increment(void) { cannot("increment"); }

WEAK void store_fill(long keys) {
    (void)keys;
    cannot("fill");
}

WEAK void store_set(long key, int64_t value) {
    (void)key, (void)value;
    cannot("set");
}

WEAK void store_follow(void (*ready)(void), int (*report)(int64_t, int64_t)) {
    (void)ready, (void)report;
    cannot("follow");
}
