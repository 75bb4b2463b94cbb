#if !__has_include(<libical/ical.h>)
#error "group-container: the trait ICalendar needs libical-dev: apt-get install libical-dev, or build without the trait"
#else

#include <libical/ical.h>

#endif
