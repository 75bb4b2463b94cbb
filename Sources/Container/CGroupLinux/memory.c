#include "CGroupLinux.h"

#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clinux_futex_wait(void *word, uint32_t expected, int64_t nanoseconds) {
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return (int)syscall(SYS_futex, word, FUTEX_WAIT, expected, &limit, NULL, 0);
}

int clinux_futex_wake_all(void *word) {
    return (int)syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

int clinux_futex_wake_one(void *word) {
    return (int)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static _Atomic uint32_t interruptions;

uint32_t clinux_interruptions(void) { return atomic_load(&interruptions); }

void clinux_interrupt(void) {
    int error = errno;
    atomic_fetch_add(&interruptions, 1);
    syscall(SYS_futex, &interruptions, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX, NULL, NULL, 0);
    errno = error;
}

void clinux_sleep_interruptibly(uint32_t seen, int64_t nanoseconds) {
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    syscall(SYS_futex, &interruptions, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, seen, &limit, NULL, 0);
}

// As in <linux/futex.h> since Linux 5.16; the headers may be older than the kernel.
struct waited_word {
    uint64_t expected, address;
    uint32_t flags, reserved;
};
enum { futex_waitv_number = 449, word_of_32_bits = 2 };

void clinux_futex_wait_interruptibly(struct clinux_word first, struct clinux_word second, struct clinux_word third,
                                     uint32_t seen, int64_t nanoseconds) {
    static _Atomic int is_missing;
    if (!atomic_load(&is_missing)) {
        struct waited_word words[4] = {
            {first.expected, (uintptr_t)first.address, word_of_32_bits, 0},
            {seen, (uintptr_t)&interruptions, word_of_32_bits | FUTEX_PRIVATE_FLAG, 0},
            {second.expected, (uintptr_t)second.address, word_of_32_bits, 0},
            {third.expected, (uintptr_t)third.address, word_of_32_bits, 0},
        };
        uint32_t count = second.address == NULL ? 2 : third.address == NULL ? 3 : 4;
        struct timespec end;
        if (nanoseconds >= 0) {
            clock_gettime(CLOCK_MONOTONIC, &end);
            int64_t part = end.tv_nsec + nanoseconds % 1000000000;
            end.tv_sec += nanoseconds / 1000000000 + part / 1000000000;
            end.tv_nsec = part % 1000000000;
        }
        long result = syscall(futex_waitv_number, words, count, 0, nanoseconds < 0 ? NULL : &end, CLOCK_MONOTONIC);
        if (result >= 0 || (errno != ENOSYS && errno != EPERM)) return;
        atomic_store(&is_missing, 1);
    }
    const int64_t period = 100000000;
    if (atomic_load(&interruptions) != seen) return;
    clinux_futex_wait(first.address, first.expected, nanoseconds < 0 || nanoseconds > period ? period : nanoseconds);
}

enum { guarded_limit = 512 };
static struct {
    _Atomic uintptr_t start, end;  // end is stored last and cleared first: 0 means that the slot guards nothing
    _Atomic int taken, damaged;
} guarded[guarded_limit];
static struct sigaction previous;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static size_t page_size;

static void handle(int number, siginfo_t *info, void *context) {
    int error = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    for (int i = 0; i < guarded_limit; i++) {
        if (address >= atomic_load(&guarded[i].end) || address < atomic_load(&guarded[i].start)) continue;
        void *page = (void *)(address & ~(page_size - 1));
        if (mmap(page, page_size, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) break;
        atomic_store(&guarded[i].damaged, 1);
        errno = error;
        return;
    }
    errno = error;
    if ((previous.sa_flags & SA_SIGINFO) && previous.sa_sigaction != NULL) {
        previous.sa_sigaction(number, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(number);
    } else {
        signal(number, SIG_DFL);  // not ours: the access is made again and ends the process as it would have
    }
}

static void install(void) {
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    action.sa_sigaction = handle;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous);
}

int clinux_map_guard(void *address, size_t length) {
    pthread_once(&once, install);
    for (int i = 0; i < guarded_limit; i++) {
        int empty = 0;
        if (!atomic_compare_exchange_strong(&guarded[i].taken, &empty, 1)) continue;
        atomic_store(&guarded[i].damaged, 0);
        atomic_store(&guarded[i].start, (uintptr_t)address);
        atomic_store(&guarded[i].end, (uintptr_t)address + length);
        return i;
    }
    return -1;
}

void clinux_map_unguard(int slot) {
    atomic_store(&guarded[slot].end, 0);
    atomic_store(&guarded[slot].taken, 0);
}

int clinux_map_guards(const void *address) {
    for (int i = 0; i < guarded_limit; i++) {
        if ((uintptr_t)address < atomic_load(&guarded[i].end) && (uintptr_t)address >= atomic_load(&guarded[i].start)) return 1;
    }
    return 0;
}

int clinux_map_is_damaged(int slot) { return atomic_load(&guarded[slot].damaged); }

void clinux_release_free_memory(void) { malloc_trim(0); }
