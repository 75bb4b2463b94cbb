/* The calls of the C library: prints nanoseconds of one call as the mean of a batch, a line a batch.
 *
 * usage: language-calls create DIRECTORY
 *        language-calls calls DIRECTORY lock|read|write|get|set|increment|post BATCH BATCHES
 */
#include <group_container.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static group_container container;
static group_defaults defaults;
static group_channel channel;
static group_options relaxed = GROUP_OPTIONS;
static char kilobyte[1024];

static void require(group_status status, group_error *error) {
    if (status == GROUP_OK) return;
    printf("%s\n", error != NULL ? error->message : group_status_name(status));
    exit(1);
}

static void call(const char *operation, long number) {
    group_error *error = NULL;
    if (strcmp(operation, "lock") == 0) {
        group_intent intent = {"a", true};
        group_access access;
        require(group_lock(container, &intent, 1, NULL, &access, &error), error);
        require(group_unlock(access, &error), error);
    } else if (strcmp(operation, "read") == 0) {
        group_content *content;
        require(group_read(container, "a", NULL, &content, &error), error);
        group_content_free(content);
    } else if (strcmp(operation, "write") == 0) {
        kilobyte[0] = (char)number;
        require(group_write(container, "a", kilobyte, sizeof kilobyte, &relaxed, NULL, &error), error);
    } else if (strcmp(operation, "get") == 0) {
        group_value *value;
        require(group_defaults_get(defaults, "n", &value, &error), error);
        group_value_free(value);
    } else if (strcmp(operation, "set") == 0) {
        group_value value = {.type = GROUP_INTEGER, .integer = number};
        require(group_defaults_set(defaults, "n", &value, NULL, NULL, &error), error);
    } else if (strcmp(operation, "increment") == 0) {
        int64_t sum;
        require(group_defaults_increment(defaults, "n", 1, NULL, &sum, &error), error);
    } else {
        uint64_t posted;
        require(group_channel_post(channel, kilobyte, 16, NULL, &posted, &error), error);
    }
}

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char **words) {
    group_error *error = NULL;
    group_open_options creating = GROUP_OPEN_OPTIONS;
    if (count < 3) return 64;
    creating.flags = strcmp(words[1], "create") == 0 ? GROUP_CREATE | GROUP_ADOPT : 0;
    require(group_open(words[2], &creating, &container, &error), error);
    if (count < 6) return 0;
    require(group_defaults_open(container, NULL, &defaults, &error), error);
    require(group_channel_open(container, "c", &channel, &error), error);
    relaxed.durability = GROUP_RELAXED;
    memset(kilobyte, '.', sizeof kilobyte);
    require(group_write(container, "a", kilobyte, sizeof kilobyte, &relaxed, NULL, &error), error);
    group_value seven = {.type = GROUP_INTEGER, .integer = 7};
    require(group_defaults_set(defaults, "n", &seven, NULL, NULL, &error), error);
    long number = 0, batch = atol(words[4]), batches = atol(words[5]);
    for (long i = -1; i < batches; i++) {
        long long began = now();
        for (long j = 0; j < batch; j++) call(words[3], ++number);
        if (i >= 0) printf("%lld\n", (now() - began) / batch);
    }
    return 0;
}
