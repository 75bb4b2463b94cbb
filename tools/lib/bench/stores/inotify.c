// The floor of a notification: a number in a file, written in place, and inotify on that file.
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "../clock.h"
#include "store.h"

static int file, queue;
static char buffer[4096] __attribute__((aligned(8)));

static void open_file(const char *directory, int flags) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/number", directory);
    file = open(path, O_RDWR | O_CLOEXEC | flags, 0644);
    if (file < 0) err(1, "%s", path);
    if (flags != 0) return;
    queue = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (queue < 0 || inotify_add_watch(queue, path, IN_MODIFY) < 0) err(1, "inotify");
}

void store_version(void) {}

void store_create(const char *directory) {
    open_file(directory, O_CREAT);
    store_write(0);
}

void store_open(const char *directory, int is_durable) {
    if (is_durable) errx(64, "inotify is not about durability");
    open_file(directory, 0);
}

int64_t store_read(void) {
    int64_t value;
    if (pread(file, &value, sizeof value, 0) != sizeof value) err(1, "pread");
    return value;
}

void store_write(int64_t value) {
    if (pwrite(file, &value, sizeof value, 0) != sizeof value) err(1, "pwrite");
}

int store_has_changed(void) {
    if (read(queue, buffer, sizeof buffer) > 0) return 1;
    if (errno != EAGAIN) err(1, "read");
    return 0;
}

void store_follow(void (*ready)(void), int (*report)(int64_t, int64_t)) {
    if (fcntl(queue, F_SETFL, 0) != 0) err(1, "fcntl");
    ready();
    int64_t moment;
    do {
        if (read(queue, buffer, sizeof buffer) <= 0) err(1, "read");
        // The wake-up alone: what was written is read after it.
        moment = now();
    } while (report(store_read(), moment));
}
