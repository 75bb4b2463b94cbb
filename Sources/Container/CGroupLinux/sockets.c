#include "CGroupLinux.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool make_address(const char *path, struct sockaddr_un *address) {
    size_t length = strlen(path);
    // Without a path, the system would choose an abstract address, which every user may connect to.
    if (length == 0) {
        errno = EINVAL;
        return false;
    }
    if (length >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    return true;
}

static int closed(int socket) {
    int error = errno;
    close(socket);
    errno = error;
    return -1;
}

int clinux_listen(const char *path, int backlog) {
    struct sockaddr_un address;
    if (!make_address(path, &address)) return -1;
    int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end < 0) return -1;
    // bind(2) gives the file the mode of the socket: there is no moment in which others may connect.
    if (fchmod(end, 0600) != 0) return closed(end);
    if (bind(end, (const struct sockaddr *)&address, sizeof address) != 0) return closed(end);
    return listen(end, backlog) == 0 ? end : closed(end);
}

int clinux_connect(const char *path, int waits) {
    struct sockaddr_un address;
    if (!make_address(path, &address)) return -1;
    int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (waits ? 0 : SOCK_NONBLOCK), 0);
    if (end < 0) return -1;
    return connect(end, (const struct sockaddr *)&address, sizeof address) == 0 ? end : closed(end);
}

int clinux_accept(int socket) { return accept4(socket, NULL, NULL, SOCK_CLOEXEC); }
