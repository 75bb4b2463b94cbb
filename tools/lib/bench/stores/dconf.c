// dconf through libdconf: its service writes, over D-Bus; reads are of its mapped file. It cannot change a value that
// it reads as one step: increments of others are lost.
#include <dconf.h>
#include <err.h>
#include <stdio.h>

#include "../clock.h"
#include "store.h"

static DConfClient *client;
static const char *const path = "/bench/n";

static void check(gboolean is_done, GError *error) {
    if (!is_done) errx(1, "dconf: %s", error ? error->message : "failed");
}

void store_version(void) {}

void store_open(const char *directory, int is_durable) {
    (void)directory;  // XDG_CONFIG_HOME determines the place.
    if (is_durable) errx(64, "dconf has no durable set");
    client = dconf_client_new();
}

void store_create(const char *directory) {
    store_open(directory, 0);
    store_write(0);
}

int64_t store_read(void) {
    GVariant *value = dconf_client_read(client, path);
    if (value == NULL) return 0;
    int64_t number = g_variant_get_int64(value);
    g_variant_unref(value);
    return number;
}

void store_write(int64_t value) {
    GError *error = NULL;
    check(dconf_client_write_sync(client, path, g_variant_new_int64(value), NULL, NULL, &error), error);
}

void store_increment(void) { store_write(store_read() + 1); }

int store_has_changed(void) { return -1; }

static int (*reporter)(int64_t, int64_t);
static GMainLoop *loop;

static void changed(DConfClient *from, const char *prefix, const char *const *changes, const char *tag, void *data) {
    (void)from, (void)prefix, (void)changes, (void)tag, (void)data;
    int64_t moment = now();
    if (!reporter(store_read(), moment)) g_main_loop_quit(loop);
}

void store_follow(void (*ready)(void), int (*report)(int64_t, int64_t)) {
    reporter = report;
    loop = g_main_loop_new(NULL, FALSE);
    g_signal_connect(client, "changed", G_CALLBACK(changed), NULL);
    dconf_client_watch_sync(client, path);
    ready();
    g_main_loop_run(loop);
}
