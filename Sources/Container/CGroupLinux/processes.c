#include "CGroupLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { registered_limit = 4096 };
static _Atomic int registered[registered_limit];  // descriptor + 1; 0 is free
static _Atomic uint32_t generation = 1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void in_child(void) {
    atomic_fetch_add(&generation, 1);
    // Replaced rather than closed: the objects of the parent that own these numbers close them later, and must not close
    // what the child has opened by then.
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < registered_limit; i++) {
        int descriptor = atomic_exchange(&registered[i], 0);
        if (descriptor == 0) continue;
        if (nothing < 0 || dup3(nothing, descriptor - 1, O_CLOEXEC) < 0) close(descriptor - 1);
    }
    if (nothing >= 0) close(nothing);
}

static void install(void) { pthread_atfork(NULL, NULL, in_child); }

uint32_t clinux_fork_generation(void) { return atomic_load_explicit(&generation, memory_order_relaxed); }

int clinux_fork_close_in_child(int descriptor) {
    pthread_once(&once, install);
    for (int i = 0; i < registered_limit; i++) {
        int empty = 0;
        if (atomic_compare_exchange_strong(&registered[i], &empty, descriptor + 1)) return 0;
    }
    errno = EMFILE;
    return -1;
}

void clinux_fork_forget(int descriptor) {
    for (int i = 0; i < registered_limit; i++) {
        int expected = descriptor + 1;
        if (atomic_compare_exchange_strong(&registered[i], &expected, 0)) return;
    }
}

int clinux_signal_descriptor(const int32_t *numbers, int count) {
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < count; i++) {
        // A blocked signal is not ignored, whatever nohup(1) has set.
        struct sigaction present;
        if (sigaction(numbers[i], NULL, &present) != 0 || present.sa_handler != SIG_IGN) sigaddset(&set, numbers[i]);
    }
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int clinux_next_signal(int descriptor) {
    struct signalfd_siginfo information;
    if (read(descriptor, &information, sizeof information) != (ssize_t)sizeof information) return 0;
    return (int)information.ssi_signo;
}

static volatile sig_atomic_t noted;
static atomic_int notes;
static atomic_int noted_descriptor = -1;

static atomic_uint arrived[2][NSIG];
static volatile sig_atomic_t noted_key;

// The signals that end a program, and those that are only passed on to a COMMAND.
static const int noted_numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int passed_numbers[] = {SIGUSR1, SIGUSR2};
enum { noted_count = sizeof noted_numbers / sizeof *noted_numbers };

// Whether the program was started with a signal ignored, as nohup(1) does: it stays so. Known before any is noted.
static atomic_int ignored_at_start[NSIG];
static atomic_int knows_ignored;

void clinux_know_ignored_signals(void) {
    if (atomic_exchange(&knows_ignored, 1)) return;
    for (int i = 0; i < noted_count; i++) {
        struct sigaction present;
        int number = noted_numbers[i];
        int is_ignored = sigaction(number, NULL, &present) == 0 && present.sa_handler == SIG_IGN;
        atomic_store(&ignored_at_start[number], is_ignored);
    }
}

int clinux_ignores_from_start(int number) { return atomic_load(&ignored_at_start[number]); }

static volatile sig_atomic_t last_noted;

static void note(int number, siginfo_t *information, void *context) {
    (void)context;
    noted = last_noted = number;
    int is_from_terminal = information->si_code > 0;  // SI_KERNEL; SI_USER and the others of processes are not above 0
    if (is_from_terminal) noted_key = number;
    atomic_fetch_add(&arrived[is_from_terminal][number], 1);
    int descriptor = atomic_load(&noted_descriptor), error = errno;
    uint64_t one = 1;
    if (descriptor >= 0 && write(descriptor, &one, sizeof one) < 0) errno = error;
    clinux_interrupt();
}

uint32_t clinux_arrived_signals(int number, int from_terminal) {
    return atomic_load(&arrived[from_terminal != 0][number]);
}

int clinux_noted_key(void) { return noted_key; }

int clinux_noted_descriptor(void) {
    int present = atomic_load(&noted_descriptor);
    if (present >= 0) return present;
    int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), none = -1;
    if (made < 0 || atomic_compare_exchange_strong(&noted_descriptor, &none, made)) return made;
    close(made);
    return none;
}

static void note_passed(int number, siginfo_t *information, void *context) {
    (void)context;
    atomic_fetch_add(&arrived[information->si_code > 0][number], 1);
    clinux_interrupt();
}

void clinux_note_passed_signals(void) {
    struct sigaction action = {.sa_sigaction = note_passed, .sa_flags = SA_SIGINFO | SA_RESTART}, present;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof passed_numbers / sizeof *passed_numbers; i++) {
        int number = passed_numbers[i];
        // One that the program ignores, or handles itself, is not passed on.
        if (sigaction(number, NULL, &present) == 0 && present.sa_handler == SIG_DFL) sigaction(number, &action, NULL);
    }
}

void clinux_note_signals(void) {
    clinux_know_ignored_signals();
    atomic_store(&notes, 1);
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};  // without SA_RESTART: a sleep ends
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < noted_count; i++) {
        if (!clinux_ignores_from_start(noted_numbers[i])) sigaction(noted_numbers[i], &action, NULL);
    }
}

void clinux_ignore_keys(void) {
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
}

void clinux_restore_signals(void) {
    for (int i = 0; i < noted_count; i++) {
        signal(noted_numbers[i], clinux_ignores_from_start(noted_numbers[i]) ? SIG_IGN : SIG_DFL);
        for (int origin = 0; origin < 2; origin++) atomic_store(&arrived[origin][noted_numbers[i]], 0);
    }
    noted = noted_key = 0;
    atomic_store(&notes, 0);
}

int clinux_noted_signal(void) { return noted; }

int clinux_last_signal(void) { return last_noted; }

static atomic_int ends_by_interrupt;

void clinux_end_by_interrupt(void) { atomic_store(&ends_by_interrupt, 1); }

static void end_by_interrupt(void) {
    if (!atomic_load(&ends_by_interrupt)) return;
    fflush(NULL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    signal(SIGINT, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(SIGINT);
}

int clinux_notes_signals(void) { return atomic_load(&notes); }

// Stopping. Either the handler of SIGTSTP stops the process, or a thread does that has something to do before. A request is
// written before the handler looks for such a thread, and the thread says that there is none before it looks for a request:
// one of the two sees the other.
static atomic_int stop_requested;
static atomic_int stop_deferred;
static atomic_int stop_descriptor = -1;

static void stop_now(void) {
    struct sigaction action = {.sa_handler = SIG_DFL}, ours;
    sigset_t set, before;
    sigemptyset(&action.sa_mask);
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    sigaction(SIGTSTP, &action, &ours);
    pthread_sigmask(SIG_UNBLOCK, &set, &before);
    raise(SIGTSTP);  // returns when the process is continued; at once if no process could continue it
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGTSTP, &ours, NULL);
}

static int requests_stop(void) {
    atomic_store(&stop_requested, 1);
    if (!atomic_load(&stop_deferred)) return 0;
    uint64_t one = 1;
    ssize_t written = write(atomic_load(&stop_descriptor), &one, sizeof one);
    (void)written;
    return 1;
}

static void request_stop(int number) {
    (void)number;
    int error = errno;
    if (!requests_stop() && atomic_exchange(&stop_requested, 0)) stop_now();
    errno = error;
}

void clinux_stop_after_work(void) {
    struct sigaction action = {.sa_handler = request_stop, .sa_flags = SA_RESTART}, present;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGTSTP, NULL, &present) == 0 && present.sa_handler == SIG_DFL) sigaction(SIGTSTP, &action, NULL);
}

int clinux_defer_stop(void) {
    int descriptor = atomic_load(&stop_descriptor), none = -1;
    if (descriptor < 0) {
        int made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (made < 0) return -1;
        // Never closed: a handler may be about to write to it.
        descriptor = made;
        if (!atomic_compare_exchange_strong(&stop_descriptor, &none, made)) {
            close(made);
            descriptor = none;
        }
    }
    atomic_store(&stop_deferred, 1);
    return descriptor;
}

void clinux_end_deferral(void) {
    atomic_store(&stop_deferred, 0);
    if (atomic_exchange(&stop_requested, 0)) stop_now();
}

int clinux_stop_is_requested(void) {
    // A request that ended a deferral before may have left the descriptor readable: the thread would wait no more.
    uint64_t count;
    ssize_t got = read(atomic_load(&stop_descriptor), &count, sizeof count);
    (void)got;
    return atomic_load(&stop_requested);
}

void clinux_stop_deferred(void) {
    stop_now();
    atomic_store(&stop_requested, 0);
}

void clinux_stop(void) {
    if (!requests_stop()) {
        if (atomic_exchange(&stop_requested, 0)) stop_now();
        return;
    }
    while (atomic_load(&stop_requested)) poll(NULL, 0, 1);
}

void clinux_prepare_process(void) {
    signal(SIGXFSZ, SIG_IGN);
    atexit(end_by_interrupt);  // the first that is registered is the last that runs
    // Swift's runtime prints a backtrace for a key that a person presses.
    struct sigaction quit;
    if (sigaction(SIGQUIT, NULL, &quit) == 0 && quit.sa_handler != SIG_IGN) signal(SIGQUIT, SIG_DFL);
    // open() gives the lowest free number, so each of these fills the first that is closed.
    for (int number = 0; number <= 2; number++) {
        if (fcntl(number, F_GETFD) >= 0) continue;
        int opened = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
        if (opened != number && opened >= 0) close(opened);
    }
}

static int take_group(const struct group *entry, uint32_t *number, char *found, size_t size) {
    *number = entry->gr_gid;
    return found == NULL || snprintf(found, size, "%s", entry->gr_name) < (int)size;
}

// Whether a group of this form is the wanted one.
static int is_wanted(const struct group *entry, const char *name, uint32_t number) {
    return name == NULL ? entry->gr_gid == number : strcmp(entry->gr_name, name) == 0;
}

// Reads groups, in the form of /etc/group, until the wanted one.
static int find_group(FILE *file, const char *name, uint32_t *number, char *found, size_t size) {
    struct group entry, *result = NULL;
    static const size_t longest = 1 << 20;
    char *buffer = malloc(longest);
    int is_found = 0;
    while (buffer != NULL && !is_found && fgetgrent_r(file, &entry, buffer, longest, &result) == 0) {
        is_found = is_wanted(result, name, *number) && take_group(result, number, found, size);
    }
    free(buffer);
    return is_found;
}

int clinux_group(const char *name, uint32_t *number, char *found, size_t size) {
    if (getauxval(AT_BASE) != 0) {
        struct group *entry = name != NULL ? getgrnam(name) : getgrgid(*number);
        return entry != NULL && take_group(entry, number, found, size);
    }
    FILE *file = fopen("/etc/group", "re");
    int is_found = file != NULL && find_group(file, name, number, found, size);
    if (file != NULL) fclose(file);
    if (is_found) return 1;
    // Only characters that mean nothing to a shell, and no option.
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@+-";
    if (name != NULL && (name[0] == 0 || name[0] == '-' || name[strspn(name, known)] != 0)) return 0;
    char command[512];
    int length = name != NULL ? snprintf(command, sizeof command, "getent group '%s' 2>/dev/null", name)
                              : snprintf(command, sizeof command, "getent group %u 2>/dev/null", (unsigned)*number);
    if (length >= (int)sizeof command) return 0;
    FILE *answer = popen(command, "re");
    if (answer == NULL) return 0;
    is_found = find_group(answer, name, number, found, size);
    pclose(answer);
    return is_found;
}
