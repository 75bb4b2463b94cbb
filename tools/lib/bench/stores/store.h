// The functions of a store for tools/bench. Each ends the program if it fails.
#pragma once
#include <stdint.h>

// Prints one line.
void store_version(void);

// Makes it in a directory, with 0 under the key "n".
void store_create(const char *directory);

// For this process. Durable: what is set is on the disk when its call returns.
void store_open(const char *directory, int is_durable);

// Returns the value of "n", which other processes set, too.
int64_t store_read(void);
void store_increment(void);
void store_write(int64_t value);

// Whether others have changed anything since the last call, by the cheapest check of the store; -1: it has none.
int store_has_changed(void);

// Keys "key 0" and so on, all at once, then one of them.
void store_fill(long keys);
void store_set(long key, int64_t value);

// Calls `report` with the value of "n" after each change that it notices, until `report` returns 0. Calls `ready` when
// no further change is missed.
void store_follow(void (*ready)(void), int (*report)(int64_t value, int64_t moment));
