// Reads the pipes of one or many watching programs, and notes when each change is reported: CLOCK_MONOTONIC right after the
// read that brings its name, whatever else the program prints around it.
//
// usage: arrivals RAW-FILE DESCRIPTOR...      RAW-FILE: where everything that is read goes too; "-" for nowhere
//
// Names are a word and six digits: sample-000001 (a change that is measured), before-000001 (the name that it had
// before), probe-000001 (a question whether the program watches already). The first time counts, once a pipe.
//
// Commands on standard input, one a line:
//   report      prints: pipes that are open, those of them that reported a probe, lowest of their last probes, samples
//               reported in all of them, earlier names reported in all, bytes read, whether a gap was marked, when the first
//               probe came
//   stall, go   stops and resumes the reading of the pipes
//   forget      forgets all samples and earlier names: their reports are of the time before
//   dump FILE   writes for each sample: number, when it was reported first, when in the last pipe, in how many pipes
// The end of standard input ends it.
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"

enum { limit = 1000000, longest_name = 13, block = 1 << 16, bitmap = limit / 8 + 1 };

struct pipe_state {
    int descriptor;
    int is_open;
    long last_probe;
    size_t carried;
    unsigned char *samples, *befores;  // one bit a number
    char buffer[longest_name + block];
};

struct arrival { int64_t first, last; int pipes; };

static struct pipe_state **pipes;
static struct arrival *arrivals;
static int *before_pipes;
static int pipe_count, open_count, raw = -1, is_marked;
static long samples_everywhere, befores_everywhere;
static long long bytes_read;
static int64_t first_probe;

static void *zeroed(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) err(1, "calloc");
    return memory;
}

static int is_new(unsigned char *bits, long number) {
    unsigned char bit = (unsigned char)(1 << number % 8);
    if (bits[number / 8] & bit) return 0;
    bits[number / 8] |= bit;
    return 1;
}

static void note_sample(struct pipe_state *pipe, long number, int64_t time) {
    if (!is_new(pipe->samples, number)) return;
    struct arrival *arrival = &arrivals[number];
    if (arrival->pipes++ == 0) arrival->first = time;
    arrival->last = time;
    samples_everywhere += arrival->pipes == open_count;
}

static void note_before(struct pipe_state *pipe, long number) {
    if (is_new(pipe->befores, number) && ++before_pipes[number] == open_count) befores_everywhere++;
}

static void note_probe(struct pipe_state *pipe, long number, int64_t time) {
    if (first_probe == 0) first_probe = time;
    if (number > pipe->last_probe) pipe->last_probe = number;
}

static long digits(const char *text) {
    long number = 0;
    for (int i = 0; i < 6; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

// A name that is found again in the bytes that are carried over changes nothing.
static void scan(struct pipe_state *pipe, size_t length, int64_t time) {
    const char *text = pipe->buffer, *end = text + length, *at = text;
    while ((at = memchr(at, '-', (size_t)(end - at))) != NULL) {
        long number = end - at > 6 ? digits(at + 1) : -1;
        if (number >= 0) {
            if (at - text >= 6 && memcmp(at - 6, "sample", 6) == 0) note_sample(pipe, number, time);
            else if (at - text >= 6 && memcmp(at - 6, "before", 6) == 0) note_before(pipe, number);
            else if (at - text >= 5 && memcmp(at - 5, "probe", 5) == 0) note_probe(pipe, number, time);
        }
        at++;
    }
    // How ours, the bare reader and the others say that changes were lost.
    is_marked |= memmem(text, length, "rescan", 6) || memmem(text, length, "verflow", 7) ||
                 memmem(text, length, "OVERFLOW", 8);
}

static void receive(struct pipe_state *pipe) {
    ssize_t count = read(pipe->descriptor, pipe->buffer + pipe->carried, block);
    int64_t time = now();
    if (count <= 0) {
        if (count == 0 || errno != EINTR) {
            pipe->is_open = 0;
            open_count--;
        }
        return;
    }
    if (raw >= 0 && write(raw, pipe->buffer + pipe->carried, (size_t)count) != count) err(1, "the raw file");
    bytes_read += count;
    size_t length = pipe->carried + (size_t)count;
    scan(pipe, length, time);
    pipe->carried = length < longest_name ? length : longest_name;
    memmove(pipe->buffer, pipe->buffer + length - pipe->carried, pipe->carried);
}

static void forget(void) {
    samples_everywhere = befores_everywhere = 0;
    memset(arrivals, 0, limit * sizeof *arrivals);
    memset(before_pipes, 0, limit * sizeof *before_pipes);
    for (int i = 0; i < pipe_count; i++) {
        memset(pipes[i]->samples, 0, bitmap);
        memset(pipes[i]->befores, 0, bitmap);
        pipes[i]->carried = 0;
    }
}

static void report(void) {
    int ready = 0;
    long lowest = limit;
    for (int i = 0; i < pipe_count; i++) {
        if (!pipes[i]->is_open) continue;
        ready += pipes[i]->last_probe >= 0;
        if (pipes[i]->last_probe < lowest) lowest = pipes[i]->last_probe;
    }
    printf("%d %d %ld %ld %ld %lld %d %lld\n", open_count, ready, lowest, samples_everywhere, befores_everywhere,
           bytes_read, is_marked, (long long)first_probe);
}

static void dump(const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL) err(1, "%s", path);
    for (long i = 0; i < limit; i++) {
        const struct arrival *a = &arrivals[i];
        if (a->pipes > 0) fprintf(file, "%ld %lld %lld %d\n", i, (long long)a->first, (long long)a->last, a->pipes);
    }
    if (fclose(file) != 0) err(1, "%s", path);
    printf("dumped\n");
}

int main(int count, char **words) {
    if (count < 3) errx(64, "usage: arrivals RAW-FILE DESCRIPTOR...");
    int keeps_text = strcmp(words[1], "-") != 0;
    if (keeps_text) raw = open(words[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (keeps_text && raw < 0) err(1, "%s", words[1]);
    pipe_count = open_count = count - 2;
    pipes = zeroed((size_t)pipe_count, sizeof *pipes);
    arrivals = zeroed(limit, sizeof *arrivals);
    before_pipes = zeroed(limit, sizeof *before_pipes);
    struct pollfd *waits = zeroed((size_t)pipe_count + 1, sizeof *waits);
    waits[0] = (struct pollfd){.fd = 0, .events = POLLIN};
    for (int i = 0; i < pipe_count; i++) {
        struct pipe_state *pipe = zeroed(1, sizeof *pipe);
        pipe->samples = zeroed(bitmap, 1);
        pipe->befores = zeroed(bitmap, 1);
        pipe->descriptor = atoi(words[i + 2]);
        pipe->is_open = 1;
        pipe->last_probe = -1;
        pipes[i] = pipe;
        waits[i + 1].events = POLLIN;
    }
    setvbuf(stdin, NULL, _IONBF, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    int is_stalled = 0;
    char line[4200];
    while (1) {
        for (int i = 0; i < pipe_count; i++) {
            waits[i + 1].fd = pipes[i]->is_open && !is_stalled ? pipes[i]->descriptor : -1;
            waits[i + 1].revents = 0;
        }
        if (poll(waits, (nfds_t)pipe_count + 1, -1) < 0 && errno != EINTR) err(1, "poll");
        for (int i = 0; i < pipe_count; i++) if (waits[i + 1].revents != 0) receive(pipes[i]);
        if (waits[0].revents == 0) continue;
        if (fgets(line, sizeof line, stdin) == NULL) return 0;
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "report") == 0) report();
        else if (strcmp(line, "stall") == 0) is_stalled = 1;
        else if (strcmp(line, "go") == 0) is_stalled = 0;
        else if (strcmp(line, "forget") == 0) forget();
        else if (strncmp(line, "dump ", 5) == 0) dump(line + 5);
        else errx(64, "unknown command: %s", line);
    }
}
