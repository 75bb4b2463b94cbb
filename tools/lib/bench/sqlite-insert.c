// SQLite by itself: rows are inserted, each by a transaction of its own.
#include <err.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

static sqlite3 *database;

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
    if (sqlite3_step(statement) != SQLITE_DONE) errx(1, "%s: %s", sqlite3_sql(statement), sqlite3_errmsg(database));
    sqlite3_reset(statement);
}

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "version") == 0) return puts(sqlite3_libversion()) == EOF;
    if (count < 3) errx(64, "usage: sqlite-insert create DIRECTORY | insert DIRECTORY COUNT durable|relaxed");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/rows.sqlite", words[2]);
    check(sqlite3_open(path, &database), path);
    execute("PRAGMA journal_mode = WAL");
    if (strcmp(words[1], "create") == 0) {
        execute("CREATE TABLE row (id INTEGER PRIMARY KEY, process INTEGER NOT NULL)");
    } else if (count == 5) {
        execute(strcmp(words[4], "durable") == 0 ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
        sqlite3_stmt *begin = prepared("BEGIN IMMEDIATE"), *commit = prepared("COMMIT");
        sqlite3_stmt *insert = prepared("INSERT INTO row (process) VALUES (?)");
        for (long left = strtol(words[3], NULL, 10); left > 0; left--) {
            int64_t began = now();
            step(begin);
            sqlite3_bind_int64(insert, 1, left);
            step(insert);
            step(commit);
            printf("%lld\n", (long long)(now() - began));
        }
        sqlite3_finalize(begin), sqlite3_finalize(insert), sqlite3_finalize(commit);
    }
    check(sqlite3_close(database), "close");
}
