#if !__has_include(<sqlite3.h>)
#error "group-container: the trait SQLite needs libsqlite3-dev: apt-get install libsqlite3-dev, or build without the trait"
#else

#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast that Swift does not import.
static inline int group_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
    // An empty text may have no address, and is not null.
    return sqlite3_bind_text64(statement, index, text ? text : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int group_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

#endif
