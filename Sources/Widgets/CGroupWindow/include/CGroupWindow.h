#ifndef C_GROUP_WINDOW_H
#define C_GROUP_WINDOW_H

#include <stddef.h>
#include <stdint.h>

// A window with cards, drawn by GTK on a thread of its own. The other functions may be called on any one other thread:
// what is to be shown is copied, and what the user does is queued.

typedef struct group_window group_window;

// What a line is.
enum { GROUP_WINDOW_TEXT, GROUP_WINDOW_BUTTON, GROUP_WINDOW_OFF, GROUP_WINDOW_ON };
// The importance of a line.
enum {
    GROUP_WINDOW_NORMAL, GROUP_WINDOW_PROMINENT, GROUP_WINDOW_SECONDARY, GROUP_WINDOW_GOOD, GROUP_WINDOW_WARNING
};

typedef struct {
    const char *text;
    int style, control;
    int is_pressed;           // the press has no result yet
    int is_link;              // the line has an address
    int percent;              // of the gauge; -1: none
    const char *rest;         // what is at the right; NULL: nothing
    const char *image_path;   // a file with a PNG, or NULL
    const char *icon;         // the name of an icon, or NULL
    const char *image_label;  // what the picture shows, or NULL
    const char *const *columns;
    size_t column_count;
} group_window_line;

typedef struct {
    const char *kind, *title;
    const char *note;  // NULL: none
    int is_fault, is_expandable, is_expanded;
    const group_window_line *lines;
    size_t line_count;
} group_window_card;

typedef struct {
    const char *kind, *title;
} group_window_widget;

// What the user has done, and which cards have come into sight and gone out of it: each is in sight at first.
enum {
    GROUP_WINDOW_CLOSED, GROUP_WINDOW_PRESS, GROUP_WINDOW_OPEN, GROUP_WINDOW_EXPAND, GROUP_WINDOW_COLLAPSE,
    GROUP_WINDOW_RELOAD, GROUP_WINDOW_REMOVE, GROUP_WINDOW_ADD, GROUP_WINDOW_EARLIER, GROUP_WINDOW_LATER,
    GROUP_WINDOW_SHOWN, GROUP_WINDOW_HIDDEN
};

typedef struct {
    int what;
    int line;        // from 1; 0: the whole card
    char kind[256];  // the card's
} group_window_event;

// Opens the window. Returns NULL where there is no display, or no memory, with the reason in `reason`. `descriptor` can be
// read once there is an event; it stays the window's.
group_window *group_window_open(const char *title, int *descriptor, const char **reason);

// Shows these cards in this order, and offers the other widgets to be added. A card that is the same as before is not
// drawn again.
void group_window_show(
    group_window *window, const group_window_card *cards, size_t card_count, const group_window_widget *others,
    size_t other_count);

// Shows a notice for some seconds.
void group_window_note(group_window *window, const char *text);

// Takes the next event. Returns 0 where there is none.
int group_window_next(group_window *window, group_window_event *event);

// Closes the window, and returns when its thread has ended.
void group_window_close(group_window *window);

#endif
