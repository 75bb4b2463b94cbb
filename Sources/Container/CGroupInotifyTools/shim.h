#if !__has_include(<inotifytools/inotifytools.h>)
#error "group-container: the trait InotifyTools needs libinotifytools0-dev: apt-get install libinotifytools0-dev, or build without the trait"
#else

#include <sys/inotify.h>
#include <inotifytools/inotifytools.h>

#endif
