// SQLite: a table of keys and values, write-ahead log, statements prepared once, its own busy handler.
#include <err.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>

#include "store.h"

static sqlite3 *database;
static sqlite3_stmt *reading, *adding, *writing, *asking;

static void check(int status, const char *what) {
    if (status != SQLITE_OK) errx(1, "%s: %s", what, sqlite3_errmsg(database));
}

static void execute(const char *text) { check(sqlite3_exec(database, text, NULL, NULL, NULL), text); }

static sqlite3_stmt *prepared(const char *text) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v3(database, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), text);
    return statement;
}

static void step(sqlite3_stmt *statement) {
    int status;
    do {
        status = sqlite3_step(statement);
        sqlite3_reset(statement);
    } while (status == SQLITE_BUSY);
    if (status != SQLITE_DONE) errx(1, "%s: %s", sqlite3_sql(statement), sqlite3_errmsg(database));
}

static int64_t number(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_ROW) errx(1, "%s: %s", sqlite3_sql(statement), sqlite3_errmsg(database));
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return value;
}

static void open_file(const char *directory) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/store.sqlite", directory);
    check(sqlite3_open(path, &database), path);
    check(sqlite3_busy_timeout(database, 60000), "busy_timeout");
}

void store_version(void) { printf("%s\n", sqlite3_libversion()); }

void store_create(const char *directory) {
    open_file(directory);
    execute("PRAGMA journal_mode = WAL");
    execute("CREATE TABLE defaults (key TEXT PRIMARY KEY, value) WITHOUT ROWID");
    execute("INSERT INTO defaults VALUES ('n', 0)");
    sqlite3_close(database);
}

void store_open(const char *directory, int is_durable) {
    open_file(directory);
    execute(is_durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    reading = prepared("SELECT value FROM defaults WHERE key = 'n'");
    adding = prepared("UPDATE defaults SET value = value + 1 WHERE key = 'n'");
    writing = prepared("INSERT INTO defaults VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value");
    asking = prepared("PRAGMA data_version");
}

int64_t store_read(void) { return number(reading); }

void store_increment(void) { step(adding); }

static void write_key(const char *key, int64_t value) {
    sqlite3_bind_text(writing, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_int64(writing, 2, value);
    step(writing);
}

void store_write(int64_t value) { write_key("n", value); }

int store_has_changed(void) {
    static int64_t before = -1;
    int64_t version = number(asking);
    int has_changed = before >= 0 && version != before;
    before = version;
    return has_changed;
}

void store_set(long key, int64_t value) {
    char name[32];
    snprintf(name, sizeof name, "key %ld", key);
    write_key(name, value);
}

void store_fill(long keys) {
    execute("BEGIN");
    for (long key = 0; key < keys; key++) store_set(key, key);
    execute("COMMIT");
}
