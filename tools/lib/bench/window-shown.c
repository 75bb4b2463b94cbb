// Prints when a window of at least 100 × 100 pixels is shown on the X server, in nanoseconds of the monotonic clock, a line
// for each one. Prints "ready" first.

#include "clock.h"
#include <X11/Xlib.h>
#include <stdio.h>

int main(void) {
    Display *display = XOpenDisplay(NULL);
    if (display == NULL) return 69;
    XSelectInput(display, DefaultRootWindow(display), SubstructureNotifyMask);
    XSync(display, False);
    puts("ready");
    fflush(stdout);
    for (;;) {
        XEvent event;
        XWindowAttributes window;
        XNextEvent(display, &event);
        if (event.type != MapNotify || !XGetWindowAttributes(display, event.xmap.window, &window)) continue;
        if (window.width < 100 || window.height < 100) continue;
        printf("%lld\n", (long long)now());
        fflush(stdout);
    }
}
