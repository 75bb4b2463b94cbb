// The floor of increments: a word that is shared in memory, and nothing else.
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store.h"

static _Atomic int64_t *word;

static void map(const char *directory, int flags) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/word", directory);
    int file = open(path, O_RDWR | O_CLOEXEC | flags, 0644);
    if (file < 0 || ftruncate(file, sizeof *word) != 0) err(1, "%s", path);
    word = mmap(NULL, sizeof *word, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (word == MAP_FAILED) err(1, "%s", path);
}

void store_version(void) {}

void store_create(const char *directory) { map(directory, O_CREAT); }

void store_open(const char *directory, int is_durable) {
    if (is_durable) errx(64, "a word in memory is not durable");
    map(directory, 0);
}

int64_t store_read(void) { return atomic_load(word); }

void store_increment(void) {
    int64_t value = atomic_load(word);
    while (!atomic_compare_exchange_weak(word, &value, value + 1)) {}
}

void store_write(int64_t value) { atomic_store(word, value); }

int store_has_changed(void) { return atomic_load(word) != 1; }
