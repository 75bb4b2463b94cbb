// What tools/bench asks of a store; linked with one of them. bench-worker does the same with ours.
//
// usage: NAME version
//        NAME create DIRECTORY
//        NAME increment DIRECTORY BEGIN NANOSECONDS relaxed|durable
//                                      add one to a key from a moment on for so long; print how often, and the longest
//                                      that one took
//        NAME sum DIRECTORY               print what it has come to
//        NAME read DIRECTORY BATCHES      1,000 reads of an unchanged key, then 1,000 times the question whether anything
//                                      has changed; print nanoseconds of one of each, a line a batch
//        NAME set DIRECTORY KEYS COUNT    print nanoseconds of each set in a store of so many keys
//        NAME send DIRECTORY COUNT NANOSECONDS    set a key to what time it is, with pauses; at the end to -1
//        NAME follow DIRECTORY            print "ready", then how long after each of these times it knew, in nanoseconds
#include "store.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../clock.h"

enum { batch = 1000, most_delays = 1 << 20 };

static void sleep_until(int64_t moment) {
    struct timespec time = {.tv_sec = moment / 1000000000, .tv_nsec = moment % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {}
}

static void increment(int64_t begin, int64_t length) {
    sleep_until(begin);
    int64_t last = now(), longest = 0;
    long count = 0;
    while (last < begin + length) {
        store_increment();
        int64_t moment = now();
        if (moment - last > longest) longest = moment - last;
        last = moment;
        count++;
    }
    printf("%ld %lld\n", count, (long long)longest);
}

static void read_batches(long batches) {
    int64_t sum = 0;
    store_write(1);
    int is_asked = store_has_changed() >= 0;
    for (long i = 0; i < batches; i++) {
        int64_t began = now();
        for (int j = 0; j < batch; j++) sum += store_read();
        int64_t read = now();
        for (int j = 0; j < batch && is_asked; j++) sum += store_has_changed();
        int64_t asked = now();
        printf("%g", (double)(read - began) / batch);
        if (is_asked) printf(" %g", (double)(asked - read) / batch);
        printf("\n");
    }
    if (sum != batches * batch) errx(1, "read something else than what was set");
}

static void set(long keys, long count) {
    store_fill(keys);
    int64_t *times = calloc((size_t)count + 1, sizeof *times);
    if (times == NULL) err(1, "calloc");
    times[0] = now();
    for (long i = 0; i < count; i++) {
        // Not one after the other as they were made.
        store_set(i * 7919 % keys, i);
        times[i + 1] = now();
    }
    for (long i = 0; i < count; i++) printf("%lld\n", (long long)(times[i + 1] - times[i]));
}

static void send(long count, int64_t pause) {
    for (long i = 0; i < count; i++) {
        // Between 3/4 and 5/4 of it, so that nothing falls into step with it.
        sleep_until(now() + pause * 3 / 4 + i * 7919 % 1000 * pause / 2000);
        store_write(now());
    }
    sleep_until(now() + pause);
    store_write(-1);
}

static int64_t delays[most_delays];
static long delay_count;

static void ready(void) {
    printf("ready\n");
    fflush(stdout);
}

static int report(int64_t value, int64_t moment) {
    if (value > 0 && delay_count < most_delays) delays[delay_count++] = moment - value;
    return value >= 0;
}

int main(int count, char **words) {
    const char *word = count > 1 ? words[1] : "";
    if (strcmp(word, "version") == 0) {
        store_version();
        return 0;
    }
    if (count < 3) errx(64, "usage: see the head of store.c");
    if (strcmp(word, "create") == 0) {
        store_create(words[2]);
        return 0;
    }
    store_open(words[2], count == 6 && strcmp(words[5], "durable") == 0);
    if (strcmp(word, "increment") == 0 && count == 6) {
        increment(atoll(words[3]), atoll(words[4]));
    } else if (strcmp(word, "sum") == 0) {
        printf("%lld\n", (long long)store_read());
    } else if (strcmp(word, "read") == 0 && count == 4) {
        read_batches(atol(words[3]));
    } else if (strcmp(word, "set") == 0 && count == 5) {
        set(atol(words[3]), atol(words[4]));
    } else if (strcmp(word, "send") == 0 && count == 5) {
        send(atol(words[3]), atoll(words[4]));
    } else if (strcmp(word, "follow") == 0) {
        store_follow(ready, report);
        for (long i = 0; i < delay_count; i++) printf("%lld\n", (long long)delays[i]);
    } else {
        errx(64, "usage: see the head of store.c");
    }
    return 0;
}
