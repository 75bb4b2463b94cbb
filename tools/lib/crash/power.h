// How the power is cut.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHUT_DOWN _IOR('X', 125, uint32_t)
enum { FLUSH_LOG = 1, LOSE_LOG = 2 };

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "cutter: %s: %s\n", what, strerror(errno));
    exit(1);
}

// SplitMix64 (Steele, Lea, Flood).
static uint64_t lot_state;
static uint64_t lot(void) {
    uint64_t mixed = lot_state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

static unsigned share;

static int write_back_some(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)place;
    if (kind != FTW_F || !S_ISREG(status->st_mode)) return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    for (off_t at = 0; at < status->st_size && at < 8 << 20; at += 4096) {
        if (lot() % 100 < share) {
            sync_file_range(file, at, 4096,
                            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
        }
    }
    close(file);
    return 0;
}

static void cut(const char *directory, bool is_flushing, uint64_t seed) {
    if (seed != 0) {
        lot_state = seed;
        share = (unsigned)(lot() % 101);
        nftw(directory, write_back_some, 16, FTW_PHYS | FTW_MOUNT);
    }
    int root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint32_t how = is_flushing ? FLUSH_LOG : LOSE_LOG;
    if (root < 0 || ioctl(root, SHUT_DOWN, &how) < 0) fail("shut down");
    close(root);
}

/// What a file has, without its holes.
static void copy(const char *from, const char *prefix, unsigned step) {
    char name[4096];
    snprintf(name, sizeof name, "%s%u", prefix, step);
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct stat status;
    if (in < 0 || out < 0 || fstat(in, &status) < 0 || ftruncate(out, status.st_size) < 0) fail(name);
    static char block[1 << 20];
    for (off_t at = 0, end; (at = lseek(in, at, SEEK_DATA)) >= 0; at = end) {
        end = lseek(in, at, SEEK_HOLE);
        for (off_t place = at; place < end;) {
            size_t wanted = end - place < (off_t)sizeof block ? (size_t)(end - place) : sizeof block;
            ssize_t count = pread(in, block, wanted, place);
            if (count <= 0 || pwrite(out, block, (size_t)count, place) != count) fail(name);
            place += count;
        }
    }
    if (errno != ENXIO) fail(from);
    close(in);
    close(out);
}
