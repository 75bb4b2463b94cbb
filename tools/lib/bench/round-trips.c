// The least that a question to another process and its answer cost: two wake-ups in shared memory.
//
// usage: round-trips create DIRECTORY           nothing: there is no store
//        round-trips ask DIRECTORY COUNT        wake a child that waits, and wait until it has woken this process; print
//                                               nanoseconds of each
#include <err.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

static long futex(uint32_t *word, int what, uint32_t value) {
    return syscall(SYS_futex, word, what, value, NULL, NULL, 0);
}

static void wake(uint32_t *word) {
    __atomic_add_fetch(word, 1, __ATOMIC_RELEASE);
    futex(word, FUTEX_WAKE, 1);
}

static void await_change(uint32_t *word, uint32_t seen) {
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == seen) futex(word, FUTEX_WAIT, seen);
}

static void ask(long count) {
    uint32_t *words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int64_t *times = calloc((size_t)count + 1, sizeof *times);
    if (words == MAP_FAILED || times == NULL) err(1, "memory");
    uint32_t *question = &words[0], *answer = &words[16];
    pid_t child = fork();
    if (child < 0) err(1, "fork");
    if (child == 0) {
        // The child ends with its parent.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint32_t asked = 0;; asked++) {
            await_change(question, asked);
            wake(answer);
        }
    }
    for (long i = -20; i < count; i++) {
        uint32_t answered = __atomic_load_n(answer, __ATOMIC_ACQUIRE);
        int64_t began = now();
        wake(question);
        await_change(answer, answered);
        if (i >= 0) times[i] = now() - began;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    for (long i = 0; i < count; i++) printf("%lld\n", (long long)times[i]);
}

int main(int count, char **words) {
    if (count == 4 && strcmp(words[1], "ask") == 0) {
        ask(atol(words[3]));
    } else if (count != 3 || strcmp(words[1], "create") != 0) {
        errx(64, "usage: see the head of round-trips.c");
    }
    return 0;
}
