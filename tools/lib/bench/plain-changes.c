// Changes files as any program does that knows nothing of the container.
//
// usage: plain-changes rename DIRECTORY FIRST COUNT PACE   rename DIRECTORY/temporary, written before, to sample-NNNNNN
//        plain-changes write DIRECTORY FIRST COUNT PACE    write into sample-NNNNNN, which is there and open already
//        plain-changes move DIRECTORY FIRST COUNT PACE     rename before-NNNNNN to sample-NNNNNN
//        plain-changes make DIRECTORY FIRST COUNT WORD     make the files WORD-NNNNNN, 120 bytes each
//        plain-changes tree DIRECTORY DIRECTORIES FILES        create directory-NNNNNN, and in them FILES files file-NNNNNN
//
// PACE: none, pause:NANOSECONDS (that long after each, more or less), steady:NANOSECONDS (one every so long).
// The first three print at their end, for each: number, when it began, when it was done, by CLOCK_MONOTONIC. A change is
// one system call, rename or write: what it needs is prepared before the pause that comes before it.
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

static char content[120];

static void sleep_until(int64_t moment) {
    struct timespec time = {.tv_sec = moment / 1000000000, .tv_nsec = moment % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {}
}

static void fill(const char *path, int flags) {
    int file = open(path, O_WRONLY | O_CLOEXEC | flags, 0644);
    if (file < 0) err(1, "%s", path);
    if (write(file, content, sizeof content) != sizeof content) err(1, "%s", path);
    if (close(file) != 0) err(1, "%s", path);
}

static void rename_item(const char *from, const char *to) {
    if (rename(from, to) != 0) err(1, "%s", from);
}

static char from[64], to[64];
static int opened = -1;

static void prepare(char kind, long number) {
    snprintf(to, sizeof to, "sample-%06ld", number);
    snprintf(from, sizeof from, kind == 'm' ? "before-%06ld" : "temporary", number);
    memcpy(content, to, strlen(to));
    if (kind == 'r') fill(from, O_CREAT | O_TRUNC);
    if (kind != 'w') return;
    if (opened >= 0 && close(opened) != 0) err(1, "close");
    opened = open(to, O_WRONLY | O_CLOEXEC);
    if (opened < 0) err(1, "%s", to);
}

static void change(char kind) {
    if (kind != 'w') return rename_item(from, to);
    if (write(opened, content, sizeof content) != sizeof content) err(1, "%s", to);
}

static void changes(char kind, long first, long count, const char *pace) {
    int64_t(*times)[2] = calloc((size_t)count, sizeof *times);
    if (times == NULL) err(1, "calloc");
    int64_t length = strchr(pace, ':') ? atoll(strchr(pace, ':') + 1) : 0;
    int is_steady = pace[0] == 's';
    uint64_t random = (uint64_t)first * 2654435761 + 1;
    if (count > 0) prepare(kind, first);
    int64_t start = now();
    for (long i = 0; i < count; i++) {
        times[i][0] = now();
        change(kind);
        times[i][1] = now();
        if (i + 1 < count) prepare(kind, first + i + 1);
        random = random * 6364136223846793005 + 1442695040888963407;
        // Between 3/4 and 5/4 of it, so that nothing falls into step with it.
        int64_t pause = length * 3 / 4 + (length > 0 ? (int64_t)(random >> 33) % (length / 2 + 1) : 0);
        if (length > 0) sleep_until(is_steady ? start + (i + 1) * length : times[i][1] + pause);
    }
    for (long i = 0; i < count; i++) {
        printf("%ld %lld %lld\n", first + i, (long long)times[i][0], (long long)times[i][1]);
    }
}

static void make_tree(long directories, long files) {
    char path[64];
    for (long i = 0; i < directories; i++) {
        snprintf(path, sizeof path, "directory-%06ld", i);
        if (mkdir(path, 0755) != 0) err(1, "%s", path);
    }
    for (long i = 0; i < files; i++) {
        snprintf(path, sizeof path, "directory-%06ld/file-%06ld", i % directories, i);
        fill(path, O_CREAT | O_TRUNC);
    }
}

int main(int count, char **words) {
    if (count < 5) errx(64, "usage: plain-changes rename|write|move|make|tree DIRECTORY FIRST COUNT PACE");
    memset(content, '.', sizeof content);
    if (chdir(words[2]) != 0) err(1, "%s", words[2]);
    long first = atol(words[3]), number = atol(words[4]);
    if (strcmp(words[1], "tree") == 0) {
        make_tree(first, number);
    } else if (count != 6) {
        errx(64, "%s: needs FIRST COUNT and one more", words[1]);
    } else if (strcmp(words[1], "make") == 0) {
        for (long i = first; i < first + number; i++) {
            char path[64];
            snprintf(path, sizeof path, "%s-%06ld", words[5], i);
            fill(path, O_CREAT | O_TRUNC);
        }
    } else if (strcmp(words[1], "rename") == 0 || strcmp(words[1], "write") == 0 || strcmp(words[1], "move") == 0) {
        // The first of a process is slower, for reasons of its own.
        if (words[1][0] != 'm') {
            for (int i = 0; i < 3; i++) {
                fill("temporary", O_CREAT | O_TRUNC);
                rename_item("temporary", "warm-up");
            }
        }
        changes(words[1][0], first, number, words[5]);
    } else {
        errx(64, "unknown: %s", words[1]);
    }
    return 0;
}
