/* A program in C that is a member of a container, as its users write one.
 *
 * usage: library-member increment CONTAINER TIMES   adds 1 to the key "n" and to the number in the file "n", and prints
 *                                                   "key" and "file" after each
 *        library-member hold CONTAINER ITEM         locks an item, prints "held", and unlocks it at the end of input
 *        library-member follow CONTAINER COUNT      prints COUNT changes, woken by poll(2)
 *        library-member fork CONTAINER              prints what a child can do with its parent's and its own handles
 */
#include <group_container.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ends the program with a message if a call has failed. */
static void require(group_status status, group_error *error)
{
    if (status == GROUP_OK)
        return;
    fprintf(stderr, "%s\n", error != NULL ? error->message : group_status_name(status));
    group_error_free(error);
    exit(1);
}

static void say(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

static int add_one(void *context, const uint8_t *data, size_t length, group_output *output)
{
    char text[32];
    long number = data != NULL ? strtol((const char *)data, NULL, 10) : 0;
    (void)context, (void)length;
    group_output_set(output, text, (size_t)snprintf(text, sizeof text, "%ld", number + 1));
    return 0;
}

static void increment(group_container container, int times)
{
    group_error *error = NULL;
    group_defaults defaults;
    group_options relaxed = GROUP_OPTIONS;
    relaxed.durability = GROUP_RELAXED;
    relaxed.timeout = GROUP_FOREVER;
    require(group_defaults_open(container, NULL, &defaults, &error), error);
    for (int i = 0; i < times; i++) {
        group_status status = group_defaults_increment(defaults, "n", 1, NULL, NULL, &error);
        require(status, error);
        say("key");
        status = group_update(container, "n", add_one, NULL, &relaxed, NULL, &error);
        require(status, error);
        say("file");
    }
    group_defaults_close(defaults);
}

static void hold(group_container container, const char *item)
{
    group_error *error = NULL;
    group_access access;
    group_intent intent = {item, true};
    group_status status = group_lock(container, &intent, 1, NULL, &access, &error);
    require(status, error);
    say("held");
    while (getchar() != EOF)
        continue;
    status = group_unlock(access, &error);
    require(status, error);
}

static void follow(group_container container, int count)
{
    group_error *error = NULL;
    group_follower follower;
    group_status status = group_follow(container, NULL, &follower, &error);
    require(status, error);
    say("following");
    struct pollfd entry = {group_follower_descriptor(follower), POLLIN, 0};
    while (count > 0) {
        group_change *change;
        poll(&entry, 1, -1);
        while ((status = group_follower_next(follower, 0, NULL, &change, &error)) == GROUP_OK) {
            printf("%d %s\n", change->kind, change->path);
            fflush(stdout);
            group_change_free(change);
            count--;
        }
        if (status != GROUP_NOTHING)
            require(status, error);
    }
    group_follower_close(follower);
}

static void fork_child(group_container container, const char *path)
{
    group_access access;
    group_error *error = NULL;
    group_intent intent = {"a", true};
    group_status status = group_lock(container, &intent, 1, NULL, &access, &error);
    require(status, error);
    pid_t child = fork();
    if (child == 0) {
        group_content *content;
        printf("read %s\n", group_status_name(group_read(container, "a", NULL, &content, NULL)));
        printf("unlock %s\n", group_status_name(group_unlock(access, NULL)));
        group_close(container);
        status = group_open(path, NULL, &container, &error);
        require(status, error);
        group_options tries = GROUP_OPTIONS;
        tries.timeout = 0;
        status = group_write(container, "a", "1", 1, &tries, NULL, &error);
        printf("write %s %d\n", group_status_name(status),
            error != NULL && error->holder_count == 1 && error->holders[0].process == getppid());
        group_error_free(error);
        status = group_write(container, "b", "1", 1, &tries, NULL, &error);
        require(status, error);
        printf("write %s\n", group_status_name(status));
        group_close(container);
        fflush(stdout);
        _exit(0);
    }
    int end = 0;
    waitpid(child, &end, 0);
    if (end != 0)
        exit(1);
    status = group_access_write(access, "a", "2", 1, NULL, NULL, &error);
    require(status, error);
    status = group_unlock(access, &error);
    require(status, error);
    say("parent ok");
}

int main(int count, char **words)
{
    group_error *error = NULL;
    group_container container;
    group_open_options options = GROUP_OPEN_OPTIONS;
    options.purpose = "in C";
    if (count < 3)
        return 64;
    group_status status = group_open(words[2], &options, &container, &error);
    require(status, error);
    if (strcmp(words[1], "increment") == 0 && count == 4)
        increment(container, atoi(words[3]));
    else if (strcmp(words[1], "hold") == 0 && count == 4)
        hold(container, words[3]);
    else if (strcmp(words[1], "follow") == 0 && count == 4)
        follow(container, atoi(words[3]));
    else if (strcmp(words[1], "fork") == 0)
        fork_child(container, words[2]);
    else
        return 64;
    group_close(container);
    return 0;
}
