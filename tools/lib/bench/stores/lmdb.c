// LMDB: one database, a transaction for each change; reads renew one transaction. Relaxed: MDB_NOSYNC.
#include <err.h>
#include <lmdb.h>
#include <stdio.h>
#include <string.h>

#include "store.h"

static MDB_env *environment;
static MDB_dbi database;
static MDB_txn *reading;

static void check(int status, const char *what) {
    if (status != 0) errx(1, "%s: %s", what, mdb_strerror(status));
}

static MDB_txn *begin(unsigned flags) {
    MDB_txn *transaction;
    check(mdb_txn_begin(environment, NULL, flags, &transaction), "mdb_txn_begin");
    return transaction;
}

static void put(MDB_txn *transaction, const char *key, int64_t value) {
    MDB_val name = {.mv_size = strlen(key), .mv_data = (void *)key};
    MDB_val data = {.mv_size = sizeof value, .mv_data = &value};
    check(mdb_put(transaction, database, &name, &data, 0), "mdb_put");
}

static int64_t get(MDB_txn *transaction) {
    MDB_val name = {.mv_size = 1, .mv_data = "n"}, data;
    check(mdb_get(transaction, database, &name, &data), "mdb_get");
    int64_t value;
    memcpy(&value, data.mv_data, sizeof value);
    return value;
}

static void write_key(const char *key, int64_t value) {
    MDB_txn *transaction = begin(0);
    put(transaction, key, value);
    check(mdb_txn_commit(transaction), "mdb_txn_commit");
}

void store_version(void) {
    int major, minor, patch;
    mdb_version(&major, &minor, &patch);
    printf("%d.%d.%d\n", major, minor, patch);
}

void store_open(const char *directory, int is_durable) {
    check(mdb_env_create(&environment), "mdb_env_create");
    check(mdb_env_set_mapsize(environment, (size_t)1 << 30), "mdb_env_set_mapsize");
    check(mdb_env_open(environment, directory, is_durable ? 0 : MDB_NOSYNC, 0644), directory);
    MDB_txn *transaction = begin(0);
    check(mdb_dbi_open(transaction, NULL, 0, &database), "mdb_dbi_open");
    check(mdb_txn_commit(transaction), "mdb_txn_commit");
    reading = begin(MDB_RDONLY);
    mdb_txn_reset(reading);
}

void store_create(const char *directory) {
    store_open(directory, 0);
    write_key("n", 0);
    mdb_env_close(environment);
}

int64_t store_read(void) {
    check(mdb_txn_renew(reading), "mdb_txn_renew");
    int64_t value = get(reading);
    mdb_txn_reset(reading);
    return value;
}

void store_increment(void) {
    MDB_txn *transaction = begin(0);
    put(transaction, "n", get(transaction) + 1);
    check(mdb_txn_commit(transaction), "mdb_txn_commit");
}

void store_write(int64_t value) { write_key("n", value); }

int store_has_changed(void) {
    static size_t before;
    MDB_envinfo info;
    check(mdb_env_info(environment, &info), "mdb_env_info");
    int has_changed = before != 0 && info.me_last_txnid != before;
    before = info.me_last_txnid;
    return has_changed;
}

void store_set(long key, int64_t value) {
    char name[32];
    snprintf(name, sizeof name, "key %ld", key);
    write_key(name, value);
}

void store_fill(long keys) {
    MDB_txn *transaction = begin(0);
    for (long key = 0; key < keys; key++) {
        char name[32];
        snprintf(name, sizeof name, "key %ld", key);
        put(transaction, name, key);
    }
    check(mdb_txn_commit(transaction), "mdb_txn_commit");
}
