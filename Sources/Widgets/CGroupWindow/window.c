#include "CGroupWindow.h"

#ifdef GROUP_GTK

#if !__has_include(<gtk/gtk.h>)
#error "group-container: the trait GTK needs libgtk-4-dev: apt-get install libgtk-4-dev, or build without the trait"
#endif

#include <gtk/gtk.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Everything but the queue of events belongs to the window's thread. The other thread hands over what it wants shown as a
// copy, by g_idle_add(), which wakes the window's loop.
struct group_window {
    GThread *thread;
    GMainLoop *loop;
    int descriptor;
    const char *failure;
    GMutex mutex;  // guards the events, and the start
    GCond started;
    gboolean has_started;
    GQueue events;
    char *title;

    GtkWidget *window, *scrolled, *flow, *empty, *gallery, *gallery_button, *notice, *notice_text;
    GPtrArray *cards;
    char *others;
    guint notice_end;
    GCancellable *leaving;     // of the question for the desktop's scheme
    GDBusConnection *session;  // NULL where there is none
    guint scheme_signal;
};

// What is shown of a card.
typedef struct {
    struct group_window *window;
    char *kind, *title, *text;  // `text` is all that is shown, to compare it
    gboolean is_expanded, is_out_of_sight;
    GtkWidget *box, *name, *note, *lines, *menu, *menu_button;
    GPtrArray *rows;
} card_view;

// What is shown of a line.
typedef struct {
    card_view *card;
    int number;
    char *form;  // what has to be the same for the row to stay
    GtkWidget *row, *control, *text, *bar, *rest;
    GPtrArray *columns;
    gulong handler;
} row_view;

// A model on its way to the window's thread.
typedef struct {
    struct group_window *window;
    GPtrArray *cards;   // of card_copy
    GPtrArray *others;  // kind and title in turns
} model;

typedef struct {
    group_window_card card;
    GStringChunk *strings;
    group_window_line *lines;
} card_copy;

static const char *const style_names[] = {"normal", "prominent", "secondary", "good", "warning"};

// Colors are mixed with the text's own, which is dark on light and light on dark.
static const char *const sheet =
    ".group-card { border-radius: 12px; padding: 10px 14px; margin: 6px;"
    " background: alpha(currentColor, 0.06); }"
    ".group-title { font-weight: bold; }"
    ".group-note { font-size: smaller; }"
    ".prominent { font-weight: bold; font-size: larger; }"
    ".secondary { opacity: 0.6; }"
    "label.good { color: mix(@success_color, currentColor, 0.4); }"
    "label.warning { color: mix(@warning_color, currentColor, 0.4); }"
    "label.fault { color: mix(@error_color, currentColor, 0.4); }"
    "levelbar.good block.filled { background: @success_color; border-color: @success_color; }"
    "levelbar.warning block.filled { background: @warning_color; border-color: @warning_color; }"
    ".group-link, .group-press { padding: 2px 8px; }";

// Events

static void report(struct group_window *window, int what, const char *kind, int line) {
    group_window_event *event = g_new0(group_window_event, 1);
    event->what = what;
    event->line = line;
    if (kind != NULL) g_strlcpy(event->kind, kind, sizeof event->kind);
    g_mutex_lock(&window->mutex);
    g_queue_push_tail(&window->events, event);
    g_mutex_unlock(&window->mutex);
    uint64_t one = 1;
    if (write(window->descriptor, &one, sizeof one) < 0) return;  // The counter is full: it can be read anyway.
}

int group_window_next(struct group_window *window, group_window_event *event) {
    g_mutex_lock(&window->mutex);
    group_window_event *first = g_queue_pop_head(&window->events);
    uint64_t count;
    if (first == NULL && read(window->descriptor, &count, sizeof count) < 0) count = 0;
    g_mutex_unlock(&window->mutex);
    if (first == NULL) return 0;
    *event = *first;
    g_free(first);
    return 1;
}

// Buttons of menus

typedef struct {
    struct group_window *window;
    int what;
    char *kind;
} choice;

static void free_choice(gpointer data, GClosure *closure) {
    (void)closure;
    choice *made = data;
    g_free(made->kind);
    g_free(made);
}

static void chosen(GtkButton *button, gpointer data) {
    choice *made = data;
    GtkWidget *popover = gtk_widget_get_ancestor(GTK_WIDGET(button), GTK_TYPE_POPOVER);
    report(made->window, made->what, made->kind, 0);
    if (popover != NULL) gtk_popover_popdown(GTK_POPOVER(popover));
}

static void add_choice(struct group_window *window, GtkWidget *box, const char *label, int what, const char *kind) {
    GtkWidget *button = gtk_button_new_with_label(label);
    choice *made = g_new0(choice, 1);
    made->window = window;
    made->what = what;
    made->kind = g_strdup(kind);
    gtk_button_set_has_frame(GTK_BUTTON(button), FALSE);
    gtk_label_set_xalign(GTK_LABEL(gtk_button_get_child(GTK_BUTTON(button))), 0);
    g_signal_connect_data(button, "clicked", G_CALLBACK(chosen), made, free_choice, 0);
    gtk_box_append(GTK_BOX(box), button);
}

static void remove_children(GtkWidget *box) {
    for (GtkWidget *child = gtk_widget_get_first_child(box); child != NULL; child = gtk_widget_get_first_child(box)) {
        gtk_box_remove(GTK_BOX(box), child);
    }
}

// Columns

// The layout of the cards: as many columns as there is room for, and each card in the shortest one.
typedef struct {
    GtkLayoutManager parent;
} group_columns;

typedef struct {
    GtkLayoutManagerClass parent;
} group_columnsClass;

G_DEFINE_TYPE(group_columns, group_columns, GTK_TYPE_LAYOUT_MANAGER)

enum { most_columns = 8, characters_of_column = 36 };

static GtkSizeRequestMode columns_mode(GtkLayoutManager *layout, GtkWidget *flow) {
    (void)layout, (void)flow;
    return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

// Returns the least and the best width of a column: room for a line of text, in the font that the user has chosen.
static void measure_column(GtkWidget *flow, int *least, int *best) {
    PangoFontMetrics *metrics = pango_context_get_metrics(gtk_widget_get_pango_context(flow), NULL, NULL);
    *best = PANGO_PIXELS(pango_font_metrics_get_approximate_char_width(metrics)) * characters_of_column;
    pango_font_metrics_unref(metrics);
    *least = 0;
    for (GtkWidget *card = gtk_widget_get_first_child(flow); card != NULL; card = gtk_widget_get_next_sibling(card)) {
        int width;
        gtk_widget_measure(card, GTK_ORIENTATION_HORIZONTAL, -1, &width, NULL, NULL, NULL);
        *least = MAX(*least, width);
    }
    *best = MAX(*best, *least);
}

// Lays the cards out in a width, and returns the height. Only measures them unless `is_placing`.
static int lay_out(GtkWidget *flow, int width, gboolean is_placing) {
    int least, best, heights[most_columns] = {0}, height = 0;
    measure_column(flow, &least, &best);
    int count = 0;
    for (GtkWidget *card = gtk_widget_get_first_child(flow); card != NULL; card = gtk_widget_get_next_sibling(card)) count++;
    int columns = CLAMP(width / MAX(best, 1), 1, CLAMP(count, 1, most_columns));
    int column_width = columns == 1 ? width : MIN(width / columns, 2 * best);
    for (GtkWidget *card = gtk_widget_get_first_child(flow); card != NULL; card = gtk_widget_get_next_sibling(card)) {
        int column = 0, needed;
        for (int other = 1; other < columns; other++) {
            if (heights[other] < heights[column]) column = other;
        }
        gtk_widget_measure(card, GTK_ORIENTATION_VERTICAL, column_width, NULL, &needed, NULL, NULL);
        if (is_placing) {
            graphene_point_t place = GRAPHENE_POINT_INIT(column * column_width, heights[column]);
            gtk_widget_allocate(card, column_width, needed, -1, gsk_transform_translate(NULL, &place));
        }
        heights[column] += needed;
        height = MAX(height, heights[column]);
    }
    return height;
}

static void measure_columns(
    GtkLayoutManager *layout, GtkWidget *flow, GtkOrientation orientation, int width, int *minimum, int *natural,
    int *minimum_baseline, int *natural_baseline) {
    (void)layout, (void)minimum_baseline, (void)natural_baseline;
    int least, best;
    measure_column(flow, &least, &best);
    *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? least : lay_out(flow, width < 0 ? best : width, FALSE);
    *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? best : *minimum;
}

static void allocate_columns(GtkLayoutManager *layout, GtkWidget *flow, int width, int height, int baseline) {
    (void)layout, (void)height, (void)baseline;
    lay_out(flow, width, TRUE);
}

static void group_columns_class_init(group_columnsClass *class) {
    GtkLayoutManagerClass *layout = GTK_LAYOUT_MANAGER_CLASS(class);
    layout->get_request_mode = columns_mode;
    layout->measure = measure_columns;
    layout->allocate = allocate_columns;
}

static void group_columns_init(group_columns *layout) { (void)layout; }

// Lines

static void pressed(GtkWidget *control, gpointer data) {
    (void)control;
    row_view *row = data;
    report(row->card->window, GROUP_WINDOW_PRESS, row->card->kind, row->number);
}

static void opened(GtkWidget *control, gpointer data) {
    (void)control;
    row_view *row = data;
    report(row->card->window, GROUP_WINDOW_OPEN, row->card->kind, row->number);
}

static void free_row(gpointer data) {
    row_view *row = data;
    g_ptr_array_unref(row->columns);
    g_free(row->form);
    g_free(row);
}

static int is_toggle(const group_window_line *line) {
    return line->control == GROUP_WINDOW_OFF || line->control == GROUP_WINDOW_ON;
}

// Returns what a row consists of: a row with the same parts is only given other texts, so that the keyboard's focus stays.
static char *form_of(const group_window_line *line) {
    int control = is_toggle(line) ? 2 : line->control == GROUP_WINDOW_BUTTON ? 1 : line->is_link ? 3 : 0;
    return g_strdup_printf(
        "%d %d %d %d %zu %s %s", control, line->style, line->percent >= 0, line->rest != NULL, line->column_count,
        line->image_path != NULL ? line->image_path : "", line->icon != NULL ? line->icon : "");
}

static GtkWidget *new_text(int style) {
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_width_chars(GTK_LABEL(label), 3);
    gtk_widget_add_css_class(label, style_names[style]);
    return label;
}

static row_view *new_row(card_view *card, const group_window_line *line, int number) {
    row_view *row = g_new0(row_view, 1);
    row->card = card;
    row->number = number;
    row->form = form_of(line);
    row->columns = g_ptr_array_new();
    row->row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    if (line->image_path != NULL || line->icon != NULL) {
        GtkWidget *image = line->icon != NULL ? gtk_image_new_from_icon_name(line->icon)
                                              : gtk_image_new_from_file(line->image_path);
        gtk_image_set_pixel_size(GTK_IMAGE(image), line->icon != NULL ? 24 : 64);
        if (line->image_label != NULL) {
            gtk_accessible_update_property(
                GTK_ACCESSIBLE(image), GTK_ACCESSIBLE_PROPERTY_LABEL, line->image_label, -1);
        }
        gtk_box_append(GTK_BOX(row->row), image);
    }
    row->text = new_text(line->style);
    if (is_toggle(line)) {
        row->control = gtk_check_button_new();
        gtk_check_button_set_child(GTK_CHECK_BUTTON(row->control), row->text);
        row->handler = g_signal_connect(row->control, "toggled", G_CALLBACK(pressed), row);
    } else if (line->control == GROUP_WINDOW_BUTTON || line->is_link) {
        int is_button = line->control == GROUP_WINDOW_BUTTON;
        row->control = gtk_button_new();
        gtk_button_set_child(GTK_BUTTON(row->control), row->text);
        gtk_button_set_has_frame(GTK_BUTTON(row->control), is_button);
        gtk_widget_add_css_class(row->control, is_button ? "group-press" : "group-link");
        row->handler = g_signal_connect(row->control, "clicked", is_button ? G_CALLBACK(pressed) : G_CALLBACK(opened), row);
    }
    GtkWidget *first = row->control != NULL ? row->control : row->text;
    gtk_widget_set_hexpand(first, line->column_count == 0);
    gtk_box_append(GTK_BOX(row->row), first);
    for (size_t index = 0; index < line->column_count; index++) {
        GtkWidget *column = new_text(line->style);
        gtk_widget_set_hexpand(column, index + 1 == line->column_count);
        g_ptr_array_add(row->columns, column);
        gtk_box_append(GTK_BOX(row->row), column);
    }
    if (line->percent >= 0) {
        row->bar = gtk_level_bar_new();
        // A gauge has its line's style, and not a color by how full it is.
        gtk_level_bar_remove_offset_value(GTK_LEVEL_BAR(row->bar), GTK_LEVEL_BAR_OFFSET_LOW);
        gtk_level_bar_remove_offset_value(GTK_LEVEL_BAR(row->bar), GTK_LEVEL_BAR_OFFSET_HIGH);
        gtk_level_bar_remove_offset_value(GTK_LEVEL_BAR(row->bar), GTK_LEVEL_BAR_OFFSET_FULL);
        gtk_widget_add_css_class(row->bar, style_names[line->style]);
        gtk_widget_set_size_request(row->bar, 96, -1);
        gtk_widget_set_valign(row->bar, GTK_ALIGN_CENTER);
        gtk_box_append(GTK_BOX(row->row), row->bar);
    }
    if (line->rest != NULL) {
        row->rest = gtk_label_new("");
        gtk_box_append(GTK_BOX(row->row), row->rest);
    }
    return row;
}

static void set_text(GtkWidget *label, const char *text) {
    if (strcmp(gtk_label_get_text(GTK_LABEL(label)), text) != 0) gtk_label_set_text(GTK_LABEL(label), text);
}

static void set_row(row_view *row, const group_window_line *line) {
    int has_image = line->image_path != NULL || line->icon != NULL;
    set_text(row->text, line->text[0] == 0 && line->image_label != NULL && !has_image ? line->image_label : line->text);
    if (row->control != NULL && is_toggle(line)) {
        g_signal_handler_block(row->control, row->handler);
        gtk_check_button_set_active(GTK_CHECK_BUTTON(row->control), line->control == GROUP_WINDOW_ON);
        g_signal_handler_unblock(row->control, row->handler);
    }
    if (row->control != NULL) {
        gtk_widget_set_opacity(row->control, line->is_pressed ? 0.5 : 1);
        gtk_accessible_update_property(GTK_ACCESSIBLE(row->control), GTK_ACCESSIBLE_PROPERTY_LABEL, line->text, -1);
    }
    for (size_t index = 0; index < line->column_count; index++) {
        set_text(g_ptr_array_index(row->columns, index), line->columns[index]);
    }
    if (row->bar != NULL) {
        char *label = g_strdup_printf("%s %d %%", line->text, line->percent);
        gtk_level_bar_set_value(GTK_LEVEL_BAR(row->bar), line->percent / 100.0);
        gtk_accessible_update_property(GTK_ACCESSIBLE(row->bar), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
        g_free(label);
    }
    if (row->rest != NULL) set_text(row->rest, line->rest);
}

// Cards

static void free_card(gpointer data) {
    card_view *card = data;
    g_ptr_array_unref(card->rows);
    g_free(card->kind);
    g_free(card->title);
    g_free(card->text);
    g_free(card);
}

static void set_menu(card_view *card, const group_window_card *given) {
    remove_children(card->menu);
    if (given->is_expandable) {
        add_choice(
            card->window, card->menu, given->is_expanded ? "Show less" : "Show more",
            given->is_expanded ? GROUP_WINDOW_COLLAPSE : GROUP_WINDOW_EXPAND, card->kind);
    }
    add_choice(card->window, card->menu, "Open its app", GROUP_WINDOW_OPEN, card->kind);
    add_choice(card->window, card->menu, "Reload", GROUP_WINDOW_RELOAD, card->kind);
    add_choice(card->window, card->menu, "Move forward", GROUP_WINDOW_EARLIER, card->kind);
    add_choice(card->window, card->menu, "Move back", GROUP_WINDOW_LATER, card->kind);
    add_choice(card->window, card->menu, "Remove", GROUP_WINDOW_REMOVE, card->kind);
}

static card_view *new_card(struct group_window *window, const group_window_card *given) {
    card_view *card = g_new0(card_view, 1);
    card->window = window;
    card->kind = g_strdup(given->kind);
    card->rows = g_ptr_array_new_with_free_func(free_row);
    card->box = g_object_new(
        GTK_TYPE_BOX, "orientation", GTK_ORIENTATION_VERTICAL, "spacing", 4, "accessible-role",
        GTK_ACCESSIBLE_ROLE_LIST_ITEM, NULL);
    gtk_widget_add_css_class(card->box, "group-card");
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    card->name = new_text(GROUP_WINDOW_NORMAL);
    gtk_widget_add_css_class(card->name, "group-title");
    gtk_widget_set_hexpand(card->name, TRUE);
    gtk_box_append(GTK_BOX(head), card->name);
    card->menu_button = gtk_menu_button_new();
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(card->menu_button), "view-more-symbolic");
    gtk_menu_button_set_has_frame(GTK_MENU_BUTTON(card->menu_button), FALSE);
    GtkWidget *popover = gtk_popover_new();
    card->menu = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_popover_set_child(GTK_POPOVER(popover), card->menu);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(card->menu_button), popover);
    gtk_box_append(GTK_BOX(head), card->menu_button);
    gtk_box_append(GTK_BOX(card->box), head);
    card->lines = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
    gtk_box_append(GTK_BOX(card->box), card->lines);
    card->note = new_text(GROUP_WINDOW_NORMAL);
    gtk_label_set_wrap(GTK_LABEL(card->note), TRUE);
    gtk_label_set_ellipsize(GTK_LABEL(card->note), PANGO_ELLIPSIZE_NONE);
    gtk_widget_add_css_class(card->note, "group-note");
    gtk_box_append(GTK_BOX(card->box), card->note);
    gtk_box_append(GTK_BOX(window->flow), card->box);
    return card;
}

// Returns all that is shown of a card as one text.
static char *text_of(const group_window_card *card) {
    GString *text = g_string_new(card->title);
    g_string_append_printf(
        text, "\1%s\1%d%d%d", card->note != NULL ? card->note : "", card->is_fault, card->is_expandable,
        card->is_expanded);
    for (size_t index = 0; index < card->line_count; index++) {
        const group_window_line *line = &card->lines[index];
        char *form = form_of(line);
        g_string_append_printf(
            text, "\2%s\1%s\1%d%d\1%d\1%s", form, line->text, line->control, line->is_pressed, line->percent,
            line->rest != NULL ? line->rest : "");
        for (size_t column = 0; column < line->column_count; column++) {
            g_string_append_printf(text, "\1%s", line->columns[column]);
        }
        g_free(form);
    }
    return g_string_free(text, FALSE);
}

// Makes each column of all rows as wide as the widest one. The first column is the line's text.
static void align_columns(card_view *card) {
    for (guint column = 0;; column++) {
        GtkSizeGroup *group = NULL;
        for (guint index = 0; index < card->rows->len; index++) {
            row_view *row = g_ptr_array_index(card->rows, index);
            if (row->columns->len == 0 || row->columns->len < column) continue;
            if (group == NULL) group = gtk_size_group_new(GTK_SIZE_GROUP_HORIZONTAL);
            GtkWidget *first = row->control != NULL ? row->control : row->text;
            gtk_size_group_add_widget(group, column == 0 ? first : g_ptr_array_index(row->columns, column - 1));
        }
        if (group == NULL) return;
        g_object_unref(group);
    }
}

static void set_card(card_view *card, const group_window_card *given) {
    char *text = text_of(given);
    if (card->text != NULL && strcmp(text, card->text) == 0) {
        g_free(text);
        return;
    }
    int is_first = card->text == NULL;
    g_free(card->text);
    card->text = text;
    if (is_first || strcmp(card->title, given->title) != 0) {
        char *menu = g_strdup_printf("Menu of %s", given->title);
        g_free(card->title);
        card->title = g_strdup(given->title);
        set_text(card->name, given->title);
        gtk_accessible_update_property(GTK_ACCESSIBLE(card->box), GTK_ACCESSIBLE_PROPERTY_LABEL, given->title, -1);
        gtk_accessible_update_property(GTK_ACCESSIBLE(card->menu_button), GTK_ACCESSIBLE_PROPERTY_LABEL, menu, -1);
        g_free(menu);
    }
    if (is_first || card->is_expanded != given->is_expanded) set_menu(card, given);
    card->is_expanded = given->is_expanded;
    int is_changed = card->rows->len != given->line_count;
    for (guint index = 0; index < given->line_count; index++) {
        const group_window_line *line = &given->lines[index];
        row_view *row = index < card->rows->len ? g_ptr_array_index(card->rows, index) : NULL;
        char *form = form_of(line);
        if (row != NULL && strcmp(row->form, form) != 0) {
            // This row and those after it are made anew, in their order.
            while (card->rows->len > index) {
                row_view *last = g_ptr_array_index(card->rows, card->rows->len - 1);
                gtk_box_remove(GTK_BOX(card->lines), last->row);
                g_ptr_array_remove_index(card->rows, card->rows->len - 1);
            }
            row = NULL;
        }
        g_free(form);
        if (row == NULL) {
            row = new_row(card, line, (int)index + 1);
            g_ptr_array_add(card->rows, row);
            gtk_box_append(GTK_BOX(card->lines), row->row);
            is_changed = TRUE;
        }
        set_row(row, line);
    }
    while (card->rows->len > given->line_count) {
        row_view *last = g_ptr_array_index(card->rows, card->rows->len - 1);
        gtk_box_remove(GTK_BOX(card->lines), last->row);
        g_ptr_array_remove_index(card->rows, card->rows->len - 1);
    }
    if (is_changed) align_columns(card);
    gtk_widget_set_visible(card->note, given->note != NULL);
    if (given->note != NULL) set_text(card->note, given->note);
    (given->is_fault ? gtk_widget_add_css_class : gtk_widget_remove_css_class)(card->note, "fault");
}

// The model

static void free_copy(gpointer data) {
    card_copy *copy = data;
    for (size_t index = 0; index < copy->card.line_count; index++) g_free((gpointer)copy->lines[index].columns);
    g_free(copy->lines);
    g_string_chunk_free(copy->strings);
    g_free(copy);
}

static void free_model(gpointer data) {
    model *shown = data;
    g_ptr_array_unref(shown->cards);
    g_ptr_array_unref(shown->others);
    g_free(shown);
}

static const char *keep(GStringChunk *strings, const char *text) {
    if (text == NULL) return NULL;
    // GTK takes UTF-8 only.
    char *valid = g_utf8_make_valid(text, -1);
    const char *kept = g_string_chunk_insert(strings, valid);
    g_free(valid);
    return kept;
}

static card_copy *copy_card(const group_window_card *card) {
    card_copy *copy = g_new0(card_copy, 1);
    copy->strings = g_string_chunk_new(256);
    copy->card = *card;
    copy->card.kind = keep(copy->strings, card->kind);
    copy->card.title = keep(copy->strings, card->title);
    copy->card.note = keep(copy->strings, card->note);
    copy->lines = g_new0(group_window_line, card->line_count + 1);
    copy->card.lines = copy->lines;
    for (size_t index = 0; index < card->line_count; index++) {
        const group_window_line *given = &card->lines[index];
        group_window_line *line = &copy->lines[index];
        *line = *given;
        if (line->style < 0 || line->style > GROUP_WINDOW_WARNING) line->style = GROUP_WINDOW_NORMAL;
        line->text = keep(copy->strings, given->text);
        line->rest = keep(copy->strings, given->rest);
        line->image_path = keep(copy->strings, given->image_path);
        line->icon = keep(copy->strings, given->icon);
        line->image_label = keep(copy->strings, given->image_label);
        const char **columns = g_new0(const char *, given->column_count + 1);
        for (size_t column = 0; column < given->column_count; column++) {
            columns[column] = keep(copy->strings, given->columns[column]);
        }
        line->columns = columns;
    }
    return copy;
}

static card_view *find_card(struct group_window *window, const char *kind) {
    for (guint index = 0; index < window->cards->len; index++) {
        card_view *card = g_ptr_array_index(window->cards, index);
        if (strcmp(card->kind, kind) == 0) return card;
    }
    return NULL;
}

static void set_others(struct group_window *window, GPtrArray *others) {
    GString *text = g_string_new("");
    for (guint index = 0; index < others->len; index++) {
        g_string_append_printf(text, "%s\1", (char *)g_ptr_array_index(others, index));
    }
    if (window->others != NULL && strcmp(window->others, text->str) == 0) {
        g_string_free(text, TRUE);
        return;
    }
    g_free(window->others);
    window->others = g_string_free(text, FALSE);
    remove_children(window->gallery);
    for (guint index = 0; index + 1 < others->len; index += 2) {
        add_choice(
            window, window->gallery, g_ptr_array_index(others, index + 1), GROUP_WINDOW_ADD,
            g_ptr_array_index(others, index));
    }
    gtk_widget_set_sensitive(window->gallery_button, others->len > 0);
}

static gboolean apply(gpointer data) {
    model *shown = data;
    struct group_window *window = shown->window;
    GtkWidget *last = NULL;
    for (guint index = 0; index < shown->cards->len; index++) {
        card_copy *copy = g_ptr_array_index(shown->cards, index);
        card_view *card = find_card(window, copy->card.kind);
        if (card == NULL) {
            card = new_card(window, &copy->card);
            g_ptr_array_add(window->cards, card);
        }
        if (gtk_widget_get_prev_sibling(card->box) != last) gtk_widget_insert_after(card->box, window->flow, last);
        last = card->box;
        set_card(card, &copy->card);
    }
    for (guint index = window->cards->len; index > 0; index--) {
        card_view *card = g_ptr_array_index(window->cards, index - 1);
        gboolean is_kept = FALSE;
        for (guint other = 0; other < shown->cards->len && !is_kept; other++) {
            is_kept = strcmp(((card_copy *)g_ptr_array_index(shown->cards, other))->card.kind, card->kind) == 0;
        }
        if (is_kept) continue;
        gtk_box_remove(GTK_BOX(window->flow), card->box);
        g_ptr_array_remove_index(window->cards, index - 1);
    }
    gtk_widget_set_visible(window->empty, window->cards->len == 0);
    set_others(window, shown->others);
    return G_SOURCE_REMOVE;
}

void group_window_show(
    struct group_window *window, const group_window_card *cards, size_t card_count, const group_window_widget *others,
    size_t other_count) {
    model *shown = g_new0(model, 1);
    shown->window = window;
    shown->cards = g_ptr_array_new_with_free_func(free_copy);
    shown->others = g_ptr_array_new_with_free_func(g_free);
    for (size_t index = 0; index < card_count; index++) g_ptr_array_add(shown->cards, copy_card(&cards[index]));
    for (size_t index = 0; index < other_count; index++) {
        g_ptr_array_add(shown->others, g_utf8_make_valid(others[index].kind, -1));
        g_ptr_array_add(shown->others, g_utf8_make_valid(others[index].title, -1));
    }
    g_idle_add_full(G_PRIORITY_DEFAULT, apply, shown, free_model);
}

// Notices

typedef struct {
    struct group_window *window;
    char *text;
} note;

static void free_note(gpointer data) {
    g_free(((note *)data)->text);
    g_free(data);
}

static gboolean end_notice(gpointer data) {
    struct group_window *window = data;
    window->notice_end = 0;
    gtk_revealer_set_reveal_child(GTK_REVEALER(window->notice), FALSE);
    return G_SOURCE_REMOVE;
}

static gboolean show_notice(gpointer data) {
    note *given = data;
    struct group_window *window = given->window;
    set_text(window->notice_text, given->text);
    gtk_revealer_set_reveal_child(GTK_REVEALER(window->notice), TRUE);
    if (window->notice_end != 0) g_source_remove(window->notice_end);
    window->notice_end = g_timeout_add_seconds(8, end_notice, window);
    return G_SOURCE_REMOVE;
}

void group_window_note(struct group_window *window, const char *text) {
    note *given = g_new0(note, 1);
    given->window = window;
    given->text = g_utf8_make_valid(text, -1);
    g_idle_add_full(G_PRIORITY_DEFAULT, show_notice, given, free_note);
}

// What is in sight

// Reports the cards that came into sight since the last call, and those that went out of it. Called after each frame: what
// scrolls, is moved or gets another size is drawn.
static void note_sight(struct group_window *window) {
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window->window));
    gboolean is_minimized = surface != NULL && (gdk_toplevel_get_state(GDK_TOPLEVEL(surface)) & GDK_TOPLEVEL_STATE_MINIMIZED);
    int height = gtk_widget_get_height(window->scrolled);
    for (guint index = 0; index < window->cards->len; index++) {
        card_view *card = g_ptr_array_index(window->cards, index);
        graphene_rect_t place;
        if (!gtk_widget_compute_bounds(card->box, window->scrolled, &place)) continue;
        gboolean is_out = is_minimized || place.origin.y >= height || place.origin.y + place.size.height <= 0;
        if (is_out == card->is_out_of_sight) continue;
        card->is_out_of_sight = is_out;
        report(window, is_out ? GROUP_WINDOW_HIDDEN : GROUP_WINDOW_SHOWN, card->kind, 0);
    }
}

static void painted(GdkFrameClock *clock, gpointer data) {
    (void)clock;
    note_sight(data);
}

static void has_state(GdkToplevel *surface, GParamSpec *property, gpointer data) {
    (void)surface, (void)property;
    note_sight(data);
}

// Light and dark

static void set_scheme(GVariant *value) {
    GVariant *number = g_variant_ref(value);
    // The portal's first form has the value in one variant more than its signal.
    while (g_variant_is_of_type(number, G_VARIANT_TYPE_VARIANT)) {
        GVariant *inner = g_variant_get_variant(number);
        g_variant_unref(number);
        number = inner;
    }
    if (g_variant_is_of_type(number, G_VARIANT_TYPE_UINT32)) {
        // 1: dark is preferred; 2: light; 0: neither.
        gboolean is_dark = g_variant_get_uint32(number) == 1;
        g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", is_dark, NULL);
    }
    g_variant_unref(number);
}

static void scheme_changed(
    GDBusConnection *session, const char *sender, const char *path, const char *interface, const char *signal,
    GVariant *parameters, gpointer data) {
    (void)session, (void)sender, (void)path, (void)interface, (void)signal, (void)data;
    if (!g_variant_is_of_type(parameters, G_VARIANT_TYPE("(ssv)"))) return;
    const char *key;
    GVariant *value;
    g_variant_get(parameters, "(&s&sv)", NULL, &key, &value);
    if (strcmp(key, "color-scheme") == 0) set_scheme(value);
    g_variant_unref(value);
}

static void has_scheme(GObject *session, GAsyncResult *result, gpointer data) {
    (void)data;
    // Where no desktop answers, the window is as GTK's own settings say.
    GVariant *answer = g_dbus_connection_call_finish(G_DBUS_CONNECTION(session), result, NULL);
    if (answer == NULL) return;
    GVariant *value = g_variant_get_child_value(answer, 0);
    set_scheme(value);
    g_variant_unref(value);
    g_variant_unref(answer);
}

static void has_session(GObject *source, GAsyncResult *result, gpointer data) {
    (void)source;
    GDBusConnection *session = g_bus_get_finish(result, NULL);
    if (session == NULL) return;
    struct group_window *window = data;  // A window that was closed meanwhile has canceled this, and there is no session.
    static const char *const interface = "org.freedesktop.portal.Settings", *const name = "org.freedesktop.portal.Desktop",
                             *const path = "/org/freedesktop/portal/desktop", *const space = "org.freedesktop.appearance";
    window->session = session;
    window->scheme_signal = g_dbus_connection_signal_subscribe(
        session, name, interface, "SettingChanged", path, space, G_DBUS_SIGNAL_FLAGS_NONE, scheme_changed, NULL, NULL);
    g_dbus_connection_call(
        session, name, path, interface, "Read", g_variant_new("(ss)", space, "color-scheme"), G_VARIANT_TYPE("(v)"),
        G_DBUS_CALL_FLAGS_NONE, -1, window->leaving, has_scheme, NULL);
}

// The window

static gboolean closing(GtkWindow *given, gpointer data) {
    (void)given;
    report(data, GROUP_WINDOW_CLOSED, NULL, 0);
    // The window goes when its owner closes it.
    return TRUE;
}

static void make(struct group_window *window) {
    GtkCssProvider *provider = gtk_css_provider_new();
    gtk_css_provider_load_from_data(provider, sheet, -1);
    gtk_style_context_add_provider_for_display(
        gdk_display_get_default(), GTK_STYLE_PROVIDER(provider), GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    g_object_unref(provider);

    window->window = gtk_window_new();
    gtk_window_set_title(GTK_WINDOW(window->window), window->title);
    gtk_window_set_default_size(GTK_WINDOW(window->window), 420, 640);
    g_signal_connect(window->window, "close-request", G_CALLBACK(closing), window);
    GtkEventController *keys = gtk_shortcut_controller_new();
    for (int index = 0; index < 2; index++) {
        gtk_shortcut_controller_add_shortcut(
            GTK_SHORTCUT_CONTROLLER(keys),
            gtk_shortcut_new(
                gtk_shortcut_trigger_parse_string(index == 0 ? "<Control>q" : "<Control>w"),
                gtk_named_action_new("window.close")));
    }
    gtk_widget_add_controller(window->window, keys);

    GtkWidget *bar = gtk_header_bar_new();
    window->gallery_button = gtk_menu_button_new();
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(window->gallery_button), "list-add-symbolic");
    gtk_widget_set_tooltip_text(window->gallery_button, "Add a widget");
    gtk_accessible_update_property(
        GTK_ACCESSIBLE(window->gallery_button), GTK_ACCESSIBLE_PROPERTY_LABEL, "Add a widget", -1);
    GtkWidget *popover = gtk_popover_new();
    window->gallery = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_popover_set_child(GTK_POPOVER(popover), window->gallery);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(window->gallery_button), popover);
    gtk_header_bar_pack_start(GTK_HEADER_BAR(bar), window->gallery_button);
    // The bar's own title asks for more room than a narrow window has.
    GtkWidget *title = gtk_label_new(window->title);
    gtk_label_set_ellipsize(GTK_LABEL(title), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(title, "title");
    gtk_header_bar_set_title_widget(GTK_HEADER_BAR(bar), title);
    gtk_window_set_titlebar(GTK_WINDOW(window->window), bar);

    GtkWidget *all = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    window->empty = gtk_label_new("No widget is shown: add one.");
    gtk_widget_set_vexpand(window->empty, FALSE);
    gtk_widget_set_visible(window->empty, FALSE);
    gtk_widget_set_margin_top(window->empty, 24);
    gtk_box_append(GTK_BOX(all), window->empty);
    window->scrolled = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(window->scrolled), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
    gtk_widget_set_vexpand(window->scrolled, TRUE);
    window->flow = g_object_new(
        GTK_TYPE_BOX, "accessible-role", GTK_ACCESSIBLE_ROLE_LIST, "layout-manager",
        g_object_new(group_columns_get_type(), NULL), NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(window->flow), GTK_ACCESSIBLE_PROPERTY_LABEL, "Widgets", -1);
    gtk_widget_set_valign(window->flow, GTK_ALIGN_START);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(window->scrolled), window->flow);
    gtk_box_append(GTK_BOX(all), window->scrolled);
    window->notice = gtk_revealer_new();
    window->notice_text = new_text(GROUP_WINDOW_NORMAL);
    gtk_label_set_wrap(GTK_LABEL(window->notice_text), TRUE);
    gtk_label_set_ellipsize(GTK_LABEL(window->notice_text), PANGO_ELLIPSIZE_NONE);
    gtk_widget_add_css_class(window->notice_text, "group-card");
    gtk_revealer_set_child(GTK_REVEALER(window->notice), window->notice_text);
    gtk_box_append(GTK_BOX(all), window->notice);
    gtk_window_set_child(GTK_WINDOW(window->window), all);
    gtk_widget_realize(window->window);
    g_signal_connect(
        gtk_widget_get_frame_clock(window->window), "after-paint", G_CALLBACK(painted), window);
    g_signal_connect(
        gtk_native_get_surface(GTK_NATIVE(window->window)), "notify::state", G_CALLBACK(has_state), window);
    g_bus_get(G_BUS_TYPE_SESSION, window->leaving, has_session, window);
    gtk_window_present(GTK_WINDOW(window->window));
}

static gpointer run(gpointer data) {
    struct group_window *window = data;
    g_set_prgname("widget-window");
    g_set_application_name(window->title);
    gboolean has_display = gtk_init_check();
    if (!has_display) window->failure = "there is no display: DISPLAY or WAYLAND_DISPLAY names none";
    if (has_display) make(window);
    g_mutex_lock(&window->mutex);
    window->has_started = TRUE;
    g_cond_signal(&window->started);
    g_mutex_unlock(&window->mutex);
    if (!has_display) return NULL;
    g_main_loop_run(window->loop);
    if (window->notice_end != 0) g_source_remove(window->notice_end);
    g_cancellable_cancel(window->leaving);
    if (window->session != NULL) {
        g_dbus_connection_signal_unsubscribe(window->session, window->scheme_signal);
        g_object_unref(window->session);
    }
    gtk_window_destroy(GTK_WINDOW(window->window));
    return NULL;
}

static void release(struct group_window *window) {
    g_main_loop_unref(window->loop);
    g_object_unref(window->leaving);
    g_ptr_array_unref(window->cards);
    g_queue_clear_full(&window->events, g_free);
    if (window->descriptor >= 0) close(window->descriptor);
    g_mutex_clear(&window->mutex);
    g_cond_clear(&window->started);
    g_free(window->title);
    g_free(window->others);
    g_free(window);
}

struct group_window *group_window_open(const char *title, int *descriptor, const char **reason) {
    struct group_window *window = g_new0(struct group_window, 1);
    window->title = g_utf8_make_valid(title, -1);
    window->descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    window->loop = g_main_loop_new(NULL, FALSE);
    window->leaving = g_cancellable_new();
    window->cards = g_ptr_array_new_with_free_func(free_card);
    g_queue_init(&window->events);
    g_mutex_init(&window->mutex);
    g_cond_init(&window->started);
    if (window->descriptor < 0) {
        *reason = "there is no descriptor left";
        release(window);
        return NULL;
    }
    window->thread = g_thread_new("window", run, window);
    g_mutex_lock(&window->mutex);
    while (!window->has_started) g_cond_wait(&window->started, &window->mutex);
    g_mutex_unlock(&window->mutex);
    if (window->failure != NULL) {
        *reason = window->failure;
        g_thread_join(window->thread);
        release(window);
        return NULL;
    }
    *descriptor = window->descriptor;
    return window;
}

static gboolean end(gpointer data) {
    g_main_loop_quit(((struct group_window *)data)->loop);
    return G_SOURCE_REMOVE;
}

void group_window_close(struct group_window *window) {
    g_idle_add_full(G_PRIORITY_DEFAULT, end, window, NULL);
    g_thread_join(window->thread);
    release(window);
}

#else

struct group_window *group_window_open(const char *title, int *descriptor, const char **reason) {
    (void)title;
    (void)descriptor;
    *reason = "this program was built without the package trait GTK";
    return NULL;
}

void group_window_show(
    struct group_window *window, const group_window_card *cards, size_t card_count, const group_window_widget *others,
    size_t other_count) {
    (void)window, (void)cards, (void)card_count, (void)others, (void)other_count;
}

void group_window_note(struct group_window *window, const char *text) { (void)window, (void)text; }

int group_window_next(struct group_window *window, group_window_event *event) {
    (void)window, (void)event;
    return 0;
}

void group_window_close(struct group_window *window) { (void)window; }

#endif
