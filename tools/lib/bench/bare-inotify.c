// The floor that the watching programs are compared with: inotify, a line an event, and nothing else. New directories
// are watched, then listed. No pairing, no comparison, no record of anything.
//
// usage: bare-inotify DIRECTORY
//
// Prints the path of each event, behind "- " where the name is gone; OVERFLOW where the kernel lost events.
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static int queue;
static char **directories;  // by watch number
static int directory_count;

static void watch(const char *directory, int is_telling) {
    int number = inotify_add_watch(
        queue, directory,
        IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR);
    if (number < 0) {
        if (errno != ENOENT && errno != ENOTDIR) err(1, "%s", directory);
        return;
    }
    if (number >= directory_count) {
        int count = number * 2 + 64;
        directories = realloc(directories, (size_t)count * sizeof *directories);
        if (directories == NULL) err(1, "realloc");
        memset(directories + directory_count, 0, (size_t)(count - directory_count) * sizeof *directories);
        directory_count = count;
    }
    free(directories[number]);
    directories[number] = strdup(directory);
    DIR *entries = opendir(directory);
    if (entries == NULL) return;
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        if (is_telling) printf("%s\n", path);
        if (entry->d_type == DT_DIR) watch(path, is_telling);
    }
    closedir(entries);
}

static void report(const struct inotify_event *event) {
    if (event->mask & IN_Q_OVERFLOW) printf("OVERFLOW\n");
    if (event->len == 0 || event->wd < 0 || event->wd >= directory_count || directories[event->wd] == NULL) return;
    printf("%s%s/%s\n", event->mask & (IN_DELETE | IN_MOVED_FROM) ? "- " : "", directories[event->wd], event->name);
    if (!(event->mask & IN_ISDIR) || !(event->mask & (IN_CREATE | IN_MOVED_TO))) return;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directories[event->wd], event->name);
    watch(path, 1);
}

int main(int count, char **words) {
    if (count != 2) errx(64, "usage: bare-inotify DIRECTORY");
    queue = inotify_init1(IN_CLOEXEC);
    if (queue < 0) err(1, "inotify_init1");
    watch(words[1], 0);
    static char buffer[1 << 16] __attribute__((aligned(8)));
    while (1) {
        ssize_t length = read(queue, buffer, sizeof buffer);
        if (length <= 0) err(1, "read");
        for (char *at = buffer; at < buffer + length;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            report(event);
            at += sizeof *event + event->len;
        }
        if (fflush(stdout) != 0) return 0;
    }
}
