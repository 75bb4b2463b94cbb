#include "CGroupLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most = 2, unshare_table = 2 };  // CLOSE_RANGE_UNSHARE

typedef struct {
    void (*body)(void *context, int32_t directory, int32_t other);
    void *context;
    int count;
    // Orders the memory of the two threads, in the caller's frame. The socket alone does not: C knows nothing of it, and
    // ThreadSanitizer takes the reader's descriptor 3 for the one of the process.
    atomic_bool *isDone;
} request;

typedef union {
    char bytes[CMSG_SPACE(most * sizeof(int32_t))];
    struct cmsghdr alignment;
} control;

static ssize_t receive(int end, request *next, int32_t *directories, int *count) {
    control control;
    struct iovec content = {next, sizeof *next};
    struct msghdr message = {
        .msg_iov = &content, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t got;
    do got = recvmsg(end, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    *count = 0;
    if (got <= 0) return got;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header == NULL || header->cmsg_type != SCM_RIGHTS) return got;
    *count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof *directories);
    memcpy(directories, CMSG_DATA(header), (size_t)*count * sizeof *directories);
    return got;
}

// Takes a table of descriptors of its own, with nothing in it but `end`, which becomes number 3.
static int leave_table(int end) {
    // Descriptors above are not even copied.
    if (syscall(SYS_close_range, end + 1, ~0U, unshare_table) != 0) return errno;
    if (end != 3) {
        if (end < 3 || dup3(end, 3, O_CLOEXEC) < 0) return end < 3 ? EBADF : errno;
        close(end);
    }
    syscall(SYS_close_range, 4, ~0U, 0);
    // Descriptors that are opened here never get the number of a standard stream.
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int number = 0; number <= 2; number++) {
        if (nothing < 0 || dup3(nothing, number, O_CLOEXEC) < 0) return errno;
    }
    close(nothing);
    return 0;
}

typedef struct {
    int end, error;
    sem_t isReady;
} beginning;

static void *serve(void *argument) {
    beginning *first = argument;
    clinux_set_thread_name("file-reader");
    int failed = first->error = leave_table(first->end);
    sem_post(&first->isReady);
    if (failed) return NULL;
    while (1) {
        request next;
        int32_t directories[most] = {-1, -1};
        int count;
        if (receive(3, &next, directories, &count) <= 0) break;
        atomic_load_explicit(next.isDone, memory_order_acquire);
        // Unless all directories got a number in this table, none of them counts.
        int error = count == next.count ? 0 : EMFILE;
        if (error == 0) next.body(next.context, directories[0], directories[1]);
        atomic_store_explicit(next.isDone, true, memory_order_release);
        if (send(3, &error, sizeof error, MSG_NOSIGNAL) != sizeof error) break;
    }
    return NULL;
}

int clinux_reader_start(int32_t *end) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    beginning first = {.end = ends[1]};
    sem_init(&first.isReady, 0, 0);
    pthread_t thread;
    int error = clinux_start_thread(&thread, 512 * 1024, serve, &first);
    if (error == 0) {
        while (sem_wait(&first.isReady) != 0) {}
        error = first.error;
    }
    sem_destroy(&first.isReady);
    close(ends[1]);
    if (error == 0) {
        *end = ends[0];
    } else {
        close(ends[0]);
    }
    return error;
}

int clinux_reader_run(int end, const int32_t *directories, int count,
                      void (*body)(void *context, int32_t directory, int32_t other), void *context) {
    atomic_bool isDone;
    request next = {.body = body, .context = context, .count = count, .isDone = &isDone};
    control control;
    memset(&control, 0, sizeof control);
    struct iovec content = {&next, sizeof next};
    struct msghdr message = {
        .msg_iov = &content,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = CMSG_SPACE((size_t)count * sizeof *directories)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN((size_t)count * sizeof *directories);
    memcpy(CMSG_DATA(header), directories, (size_t)count * sizeof *directories);
    atomic_store_explicit(&isDone, false, memory_order_release);
    ssize_t done;
    do done = sendmsg(end, &message, MSG_NOSIGNAL);
    while (done < 0 && errno == EINTR);
    if (done < 0) return errno;
    int error = 0;
    do done = recv(end, &error, sizeof error, 0);
    while (done < 0 && errno == EINTR);
    bool isAnswered = atomic_load_explicit(&isDone, memory_order_acquire);
    return done == sizeof error && isAnswered ? error : EIO;
}
