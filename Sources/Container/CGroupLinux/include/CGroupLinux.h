// What Swift's Glibc module does not offer, or not in a form it can call: variadic calls, macros, and the
// pieces that must be C because they run where Swift may not (a cancelled thread, a signal handler, a
// forked child). There is no logic of the product here.
#ifndef CGROUPLINUX_H
#define CGROUPLINUX_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/xattr.h>

#include "CGroupLinuxAtomics.h"

// The arguments of this process, the program's name first; NULL after the last one.

int clinux_argument_count(void);
const char *clinux_argument(int index);

// Files. Each returns what its system call returns; errno is the reason of a failure.

typedef struct {
    uint64_t inode, size, mountID;
    uint64_t allocated;  // bytes on the disk
    int32_t mountIsUnique;  // whether no other mount of this boot ever has the same mountID
    int64_t modified, changed;  // nanoseconds since 1970, as clinux_nanoseconds returns them
    int64_t modifiedSeconds;  // the exact date, which may be beyond the range of nanoseconds
    uint32_t modifiedRest;
    uint32_t mode, owner, group, links, deviceMajor, deviceMinor;
    uint64_t node;  // the device of a device file
} clinux_status;

int clinux_openat2(int directory, const char *path, int flags, uint32_t mode, uint64_t resolve);
// The status of the entry itself, also where it is a symbolic link; of `directory` when the path is empty.
// The names of the attributes of an entry of a directory, also of a symbolic link. listxattrat(2); before Linux 6.13
// llistxattr(2), by a path in /proc.
ssize_t clinux_list_attributes(int directory, const char *name, char *buffer, size_t size);
// A moment in nanoseconds since 1970, between 1960 and 2252.
int64_t clinux_nanoseconds(int64_t seconds, int64_t rest);
int clinux_statx(int directory, const char *path, clinux_status *status);
int clinux_renameat2(int from, const char *old, int to, const char *new_, unsigned flags);
long clinux_filesystem_type(int descriptor);
// Of a Btrfs; -1 elsewhere.
int clinux_filesystem_uuid(int descriptor, uint8_t uuid[16]);
// In bytes, for this user.
int clinux_free_space(int descriptor, uint64_t *bytes, uint64_t *inodes);
int clinux_set_nocow(int descriptor);
int clinux_allocate(int descriptor, int64_t size);
int clinux_free_range(int descriptor, int64_t start, int64_t length);
int64_t clinux_next_content(int descriptor, int64_t offset);
int64_t clinux_next_hole(int descriptor, int64_t offset);
int clinux_clone(int to, int from);
long clinux_copy_range(int from, int to, size_t length);
int clinux_begin_writing(int descriptor);
int clinux_sync_filesystem(int descriptor);
int clinux_memory_file(void);
// write(2) that does not wait, whether or not the file is non-blocking: pwritev2(2) with RWF_NOWAIT.
long clinux_write_now(int descriptor, const void *bytes, size_t count);
int clinux_pipe(int32_t ends[2]);

// Byte locks that belong to the open file description (F_OFD_SETLK, F_OFD_GETLK).

int clinux_lock_try(int descriptor, int64_t start, int64_t length, int type);
// Whether the lock of another open file description conflicts: 1 (and the range of that lock), 0, or -1.
int clinux_lock_conflict(int descriptor, int64_t start, int64_t length, int type, int64_t *found, int64_t *foundLength);
// Whether a process has locked a byte of the range by fcntl(F_SETLK): 1 (and its number), 0, or -1.
int clinux_lock_owner(int descriptor, int64_t start, int64_t length, int32_t *owner);

typedef struct {
    int64_t start, length;
    int type;
    // Exclusive, and the whole range or nothing: the waiter holds no part of the range while it waits.
    int undivided;
} clinux_lock_step;

typedef struct clinux_lock_waiter clinux_lock_waiter;

// Takes the steps one after the other on a small thread of its own, which sleeps in the kernel. `done` is called
// exactly once, on that thread: with 0, an errno, or ECANCELED, after which the description holds no lock.
int clinux_lock_waiter_start(
    int descriptor, const clinux_lock_step *steps, size_t count, void (*done)(void *context, int error),
    void *context, clinux_lock_waiter **waiter);
void clinux_lock_waiter_cancel(clinux_lock_waiter *waiter);
void clinux_lock_waiter_release(clinux_lock_waiter *waiter);

// Threads with a table of descriptors of their own: locks of the whole process (fcntl(F_SETLK)) belong to a table, and
// go when any descriptor of their file is closed in it. `start` returns 0 or an errno, and one end of a socket; the
// thread ends when that is closed. `run` has `body` run there, with the numbers that one directory or two have in that
// table (-1: none), and returns when it has returned: 0, or an errno where it did not run. It owns the numbers.

int clinux_reader_start(int32_t *end);
int clinux_reader_run(int end, const int32_t *directories, int count,
                      void (*body)(void *context, int32_t directory, int32_t other), void *context);

// A child of fork() that does not exec shares its parent's open file descriptions and so its locks. The
// registered descriptors are replaced by /dev/null in the child, and the generation differs in the child.

uint32_t clinux_fork_generation(void);
int clinux_fork_close_in_child(int descriptor);
void clinux_fork_forget(int descriptor);

// Sleeps while *word is `expected`, at most `nanoseconds`; wakes all threads that sleep there.
int clinux_futex_wait(void *word, uint32_t expected, int64_t nanoseconds);
int clinux_futex_wake_all(void *word);
// Wakes one of them, the one that sleeps longest.
int clinux_futex_wake_one(void *word);

struct clinux_word {
    void *address;
    uint32_t expected;
};
// Sleeps while each word has its expected value, and `clinux_interruptions()` is `seen`, at most `nanoseconds` (negative:
// no limit). The addresses of the third word, or of the second and the third, may be NULL. futex_waitv(2); before Linux
// 5.16, and where it is forbidden, futex(2) on the first word for at most 100 ms.
void clinux_futex_wait_interruptibly(struct clinux_word first, struct clinux_word second, struct clinux_word third,
                                     uint32_t seen, int64_t nanoseconds);
// Sleeps while `clinux_interruptions()` is `seen`, at most `nanoseconds`. May return early.
void clinux_sleep_interruptibly(uint32_t seen, int64_t nanoseconds);
// The number of calls of `clinux_interrupt`, which wakes all threads of this process that sleep so. A signal handler
// may call it.
uint32_t clinux_interruptions(void);
void clinux_interrupt(void);

// Unix sockets by path. The file of a socket that listens has the mode 0600. Each returns a descriptor, or -1: ENAMETOOLONG
// where the path has more than 107 bytes; EAGAIN where the one that listens is busy, and the call may not wait.

int clinux_listen(const char *path, int backlog);
int clinux_connect(const char *path, int waits);
int clinux_accept(int socket);

// Readiness of descriptors. The wait fills in which of those added can be read, at most `capacity` of them, and
// returns how many; 0 is the time-out, and a negative time has none.

int clinux_epoll_create(void);
int clinux_epoll_add(int epoll, int descriptor);
int clinux_epoll_wait(int epoll, int64_t nanoseconds, int32_t *ready, int capacity);
int clinux_eventfd(void);
// A descriptor that is ready for input once the wall clock was set, or the machine resumed, since `begin`; `begin` makes
// it wait for the next time.
int clinux_clock_watch(void);
int clinux_clock_watch_begin(int timer);

// Readiness for input, output or urgent data (EPOLLPRI). The end of the input and errors are always reported, as input.

enum { clinux_ready_input = 1, clinux_ready_output = 2, clinux_ready_urgent = 4 };

typedef struct {
    int32_t descriptor, what;
} clinux_readiness;

// `isKnown`: it was added before. `what` of 0 takes it out.
int clinux_epoll_set(int epoll, int descriptor, int what, int isKnown);
int clinux_epoll_wait_ready(int epoll, int64_t nanoseconds, clinux_readiness *ready, int capacity);

// Maps that survive a truncation by another process, or a full disk: an access beyond the file's end reads zero from
// then on, and the guard's slot records it. Returns a slot, or -1 when all are taken.

int clinux_map_guard(void *address, size_t length);
void clinux_map_unguard(int slot);
int clinux_map_is_damaged(int slot);
// Whether such an access is guarded there.
int clinux_map_guards(const void *address);

// malloc_trim(3): gives memory that was freed back to the kernel.
void clinux_release_free_memory(void);

// Starts a program whose descriptors 0, 1, 2, … are copies of the `count` streams (-1: inherited). With
// `dies_with_parent` the child is killed when the calling *thread* ends; with `own_group` it leads a process group; with
// `only_streams` it inherits no other descriptor, also none without close-on-exec; with `takes_keys` it gets the key that
// was noted before. An environment of NULL is inherited.
// Returns 0 or an errno, that of exec included.

enum {
    clinux_spawn_dies_with_parent = 1,
    clinux_spawn_own_group = 2,
    clinux_spawn_only_streams = 4,
    clinux_spawn_takes_keys = 8
};

int clinux_spawn(char *const arguments[], char *const environment[], int32_t streams[], int count, int flags,
                 int32_t *child);

// Finds a Unix group: its number by `name`, or, where that is NULL, its name by *number. Returns 1, or 0 where there is no
// such group. getgrnam(3), getgrgid(3); a program without shared libraries cannot load those of other directories of
// groups than /etc/group (LDAP, for example), and runs getent(1).
int clinux_group(const char *name, uint32_t *number, char *found, size_t size);

// Starts a program that is no child of this process, in a session of its own, so that it outlives this process.
int clinux_spawn_detached(char *const arguments[], int32_t streams[3]);

// Waits for a child's end, at most so long, or until a signal comes: 1 with its wait status, 0: it lives, -1 and errno.
int clinux_wait_child(int32_t child, int64_t nanoseconds, int *status);

// A descriptor of a process that is readable once the process has ended (pidfd_open(2)).
int clinux_process_descriptor(int32_t process);
// Whether a child has ended, or is no child any more; it stays to be waited for. With `waits` once it has.
int clinux_child_has_ended(int32_t child, int waits);
// Makes this process the parent of processes below it whose parent has ended (PR_SET_CHILD_SUBREAPER).
int clinux_adopt_orphans(void);

// The change of a child since the last call: 0: nothing, 1: it exited, 2: a signal ended it, 3: it was stopped; -1 and
// errno. `number` is the status or the signal. Does not wait.
int clinux_child_event(int32_t child, int32_t *number);

// Blocks these signals in the calling thread, and in those that it starts, and returns a descriptor they are read from.
int clinux_signal_descriptor(const int32_t *numbers, int count);
// The next one, or 0.
int clinux_next_signal(int descriptor);

// SIGXFSZ becomes EFBIG, SIGQUIT ends the process as it does any program; closed standard descriptors become ones that
// refuse what they are for.
void clinux_prepare_process(void);

// Lets SIGTSTP, which a terminal's Ctrl-Z sends, stop this process only after the work of the thread that defers it.
void clinux_stop_after_work(void);
// Defers the stop to the calling thread; returns a descriptor that is readable once it is requested, or -1: not deferred.
// For one thread at a time.
int clinux_defer_stop(void);
int clinux_stop_is_requested(void);
// Stops this process; returns when it goes on. For the thread that defers.
void clinux_stop_deferred(void);
void clinux_end_deferral(void);
// Stops this process as SIGTSTP does; returns when it goes on. For any other thread.
void clinux_stop(void);

// Makes SIGINT, SIGTERM, SIGHUP and SIGQUIT leave their number behind and do nothing else. One that was ignored when the
// program was started, as by nohup(1), stays so.
void clinux_note_signals(void);
// Looks which of these are ignored, unless that is known; to be called before the first is noted or given a handler.
void clinux_know_ignored_signals(void);
int clinux_ignores_from_start(int number);
// Makes SIGUSR1 and SIGUSR2 be counted, and do nothing else.
void clinux_note_passed_signals(void);
// The last of the noted signals, also after clinux_restore_signals; 0 if none.
int clinux_last_signal(void);
// Has exit(3) end this process by SIGINT, after all else: a shell that has got it, too, ends its script only then.
void clinux_end_by_interrupt(void);

// Makes SIGINT and SIGQUIT, which the keys of a terminal send, do nothing.
void clinux_ignore_keys(void);
// Gives these signals their default effect again, and forgets those that have been noted.
void clinux_restore_signals(void);
int clinux_noted_signal(void);
// The last one that a terminal has sent, by a key or because it is gone; 0 if none.
int clinux_noted_key(void);
// How many with this number have been noted: of those from a terminal, or of those from processes.
uint32_t clinux_arrived_signals(int number, int from_terminal);
// A descriptor that is readable from the next of these signals on, for good; -1 where there can be none.
int clinux_noted_descriptor(void);
// Whether they do: then none of them ends a call that waits, unless its caller looks for the number.
int clinux_notes_signals(void);

// A detached thread that gets none of the program's signals; `stack` 0: of the usual size. 0 or an errno.
int clinux_start_thread(pthread_t *thread, size_t stack, void *(*body)(void *), void *argument);
int clinux_set_thread_name(const char *name);

// A terminal that a program draws on: without echo, each byte at once, Control keys among them. The former mode
// is restored by `leave`, at the process's end, and before any signal ends it, that of a crash among them. One a process.

int clinux_terminal_size(int descriptor, int32_t *columns, int32_t *rows);
// `leaving`: at most 128 bytes.
int clinux_terminal_enter(int input, int output, const char *welcome, const char *leaving);
void clinux_terminal_leave(void);
// Leaves, and stops the process as Control-Z would; returns when it goes on.
void clinux_terminal_stop(void);
// A descriptor that is readable when there is news, which `news` takes: SIGWINCH, SIGTSTP, SIGCONT.
int clinux_terminal_wake(void);
int clinux_terminal_news(void);
enum { clinux_terminal_resized = 1, clinux_terminal_stopping = 2, clinux_terminal_continued = 4 };
// Whether read() would return at once.
int clinux_is_readable(int descriptor);
// Opens a new terminal: its keyboard, on which its output can be read, and its name, to be opened as the terminal.
int clinux_open_terminal(int32_t *keyboard, char *name, size_t capacity);

#endif
