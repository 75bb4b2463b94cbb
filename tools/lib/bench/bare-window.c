// A window of GTK that shows four boxes with three lines each, and nothing else: what a window costs without us.

#if __has_include(<gtk/gtk.h>)

#include <gtk/gtk.h>

int main(void) {
    if (!gtk_init_check()) return 69;
    GtkWidget *window = gtk_window_new(), *scrolled = gtk_scrolled_window_new();
    GtkWidget *all = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    for (int box = 0; box < 4; box++) {
        GtkWidget *card = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4);
        gtk_box_append(GTK_BOX(card), gtk_label_new("To do"));
        for (int line = 0; line < 3; line++) gtk_box_append(GTK_BOX(card), gtk_check_button_new_with_label("Milk"));
        gtk_box_append(GTK_BOX(all), card);
    }
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), all);
    gtk_window_set_child(GTK_WINDOW(window), scrolled);
    gtk_window_set_titlebar(GTK_WINDOW(window), gtk_header_bar_new());
    gtk_window_set_default_size(GTK_WINDOW(window), 420, 640);
    gtk_window_present(GTK_WINDOW(window));
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
}

#else

int main(void) { return 69; }  // tools/bench installs the headers first.

#endif
