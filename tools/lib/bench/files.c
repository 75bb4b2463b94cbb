// What files and locks cost with nothing but system calls: the floor of what bench-worker does.
//
// usage: files create DIRECTORY
//        files replace DIRECTORY SIZE COUNT relaxed|durable [NAME]    write a temporary, rename it over the file; durable: with
//                                                           fsync of it and of the directory. Print nanoseconds of each
//        files items DIRECTORY SIZE COUNT                   open, fstat, read and close a file; print nanoseconds of each
//        files lock DIRECTORY ofd|flock BATCH BATCHES          print nanoseconds of a lock and unlock, a line a batch
//        files work DIRECTORY 0 BEGIN END SEED                 add to the number in `n` under flock(2) as often as it can;
//                                                           print writes, 0, the longest wait twice in µs, and faults
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"

static void write_all(int file, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t count = write(file, bytes, size);
        if (count < 0) err(1, "write");
        bytes += count;
        size -= (size_t)count;
    }
}

static void replace_with(const char *name, const char *bytes, size_t size, int is_durable) {
    char temporary[64];
    snprintf(temporary, sizeof temporary, "temporary.%d", (int)getpid());
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) err(1, "%s", temporary);
    write_all(file, bytes, size);
    if (is_durable && fsync(file) != 0) err(1, "fsync");
    if (close(file) != 0) err(1, "close");
    if (rename(temporary, name) != 0) err(1, "rename");
    if (!is_durable) return;
    int directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || fsync(directory) != 0 || close(directory) != 0) err(1, "the directory");
}

static void replace(size_t size, long count, int is_durable, const char *name) {
    if (size < 8) size = 8;
    char *content = malloc(size);
    int64_t *times = calloc((size_t)count + 1, sizeof *times);
    if (content == NULL || times == NULL) err(1, "malloc");
    memset(content, '.', size);
    // The first of a process are slower, for reasons of their own.
    for (long i = -3; i < count; i++) {
        int64_t number = i;
        memcpy(content, &number, sizeof number);
        int64_t began = now();
        replace_with(name, content, size, is_durable);
        if (i >= 0) times[i] = now() - began;
    }
    for (long i = 0; i < count; i++) printf("%lld\n", (long long)times[i]);
}

static void read_items(size_t size, long count) {
    char *content = malloc(size);
    int64_t *times = calloc((size_t)count + 1, sizeof *times);
    if (content == NULL || times == NULL) err(1, "malloc");
    memset(content, '.', size);
    replace_with("item", content, size, 0);
    for (long i = -100; i < count; i++) {
        int64_t began = now();
        int file = open("item", O_RDONLY | O_CLOEXEC);
        struct stat status;
        if (file < 0 || fstat(file, &status) != 0) err(1, "item");
        char *found = malloc((size_t)status.st_size + 1);
        if (found == NULL || read(file, found, (size_t)status.st_size + 1) != (ssize_t)size) err(1, "item");
        if (close(file) != 0) err(1, "item");
        if (i >= 0) times[i] = now() - began;
        free(found);
    }
    for (long i = 0; i < count; i++) printf("%lld\n", (long long)times[i]);
}

static void lock_byte(int file, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)1 << 40, .l_len = 1};
    if (fcntl(file, F_OFD_SETLK, &lock) != 0) err(1, "F_OFD_SETLK");
}

static void lock_whole(int file, int operation) {
    while (flock(file, operation) != 0) {
        if (errno != EINTR) err(1, "flock");
    }
}

static int lock_file(void) {
    int file = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) err(1, "lock");
    return file;
}

static void lock(int is_ofd, long batch, long batches) {
    int file = lock_file();
    for (long i = -1; i < batches; i++) {
        int64_t began = now();
        for (long j = 0; j < batch; j++) {
            if (is_ofd) {
                lock_byte(file, F_WRLCK);
                lock_byte(file, F_UNLCK);
            } else {
                lock_whole(file, LOCK_EX);
                lock_whole(file, LOCK_UN);
            }
        }
        if (i >= 0) printf("%lld\n", (long long)((now() - began) / batch));
    }
}

static long number_in(const char *name) {
    char text[32];
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) err(1, "%s", name);
    ssize_t count = read(file, text, sizeof text - 1);
    if (count <= 0 || close(file) != 0) err(1, "%s", name);
    text[count] = 0;
    return atol(text);
}

static void work(int64_t begin, int64_t end) {
    int file = lock_file();
    long writes = 0, faults = 0, last = 0;
    int64_t longest = 0;
    struct timespec time = {.tv_sec = begin / 1000000000, .tv_nsec = begin % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {}
    for (int64_t began; (began = now()) < end; writes++) {
        lock_whole(file, LOCK_EX);
        int64_t waited = now() - began;
        if (waited > longest) longest = waited;
        long next = number_in("n") + 1;
        char text[32];
        int length = snprintf(text, sizeof text, "%ld\n", next);
        replace_with("n", text, (size_t)length, 0);
        lock_whole(file, LOCK_UN);
        if (next <= last) faults++;
        last = next;
    }
    printf("%ld 0 %lld %lld %ld\n", writes, (long long)longest / 1000, (long long)longest / 1000, faults);
}

int main(int count, char **words) {
    if (count < 3) errx(64, "usage: see the head of files.c");
    if (chdir(words[2]) != 0) err(1, "%s", words[2]);
    if (strcmp(words[1], "create") == 0) {
        if (close(lock_file()) != 0) err(1, "lock");
    } else if (strcmp(words[1], "replace") == 0 && (count == 6 || count == 7)) {
        const char *name = count == 7 ? words[6] : "item";
        replace((size_t)atol(words[3]), atol(words[4]), strcmp(words[5], "durable") == 0, name);
    } else if (strcmp(words[1], "items") == 0 && count == 5) {
        read_items((size_t)atol(words[3]), atol(words[4]));
    } else if (strcmp(words[1], "lock") == 0 && count == 6) {
        lock(strcmp(words[3], "ofd") == 0, atol(words[4]), atol(words[5]));
    } else if (strcmp(words[1], "work") == 0 && count == 7) {
        work(atoll(words[4]), atoll(words[5]));
    } else {
        errx(64, "usage: see the head of files.c");
    }
    return 0;
}
