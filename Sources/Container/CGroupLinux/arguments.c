#include "CGroupLinux.h"

static int count;
static char **words;

// glibc calls a constructor with the arguments of main; Swift's runtime reads /proc/self/cmdline, which need not be there.
__attribute__((constructor)) static void keep(int argc, char **argv) {
    count = argc;
    words = argv;
}

int clinux_argument_count(void) { return count; }
const char *clinux_argument(int index) { return index >= 0 && index < count ? words[index] : 0; }
