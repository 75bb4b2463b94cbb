/* A container: a directory that several processes share. Locks keep them from tearing each other's files, writes are
 * atomic and durable, and each process can follow all changes, in order, each once.
 *
 * Handles. `group_open` and its like make handles, and a close function for each kind ends them. A handle is a number
 * that is never used again: a function that is given NULL, a closed handle or one of another kind returns
 * GROUP_INVALID_ARGUMENT. Any thread may use any handle, except that of an access that a callback is given, which is
 * its thread's. Close functions take NULL and closed handles, and do nothing.
 *
 * Errors. A function returns GROUP_OK, or says by its status what happened. If `error` is not NULL, it then points to a
 * description that the caller frees with `group_error_free`; after GROUP_OK and GROUP_NOTHING it is set to NULL.
 * Nothing else is set by a function that fails, unless its comment says so.
 *
 * Memory. What a function returns as a pointer is the caller's, and is freed by the function that its comment names.
 * What the caller passes is read during the call only.
 *
 * Text is UTF-8 and ends with a NUL. A path is bytes, without a NUL, which need not be UTF-8. The paths of items are
 * relative to the container: "notes/a.txt".
 *
 * Callbacks run on the thread that calls, before the function returns. They must not leave by longjmp or an exception.
 *
 * fork(2). The handles of the parent are not the child's: a function that is given one returns GROUP_FORKED, and a
 * close function does nothing. The child may open the container anew, or call exec.
 *
 * Signals. The library installs no handler. No function is to be called in a handler. A wait is not ended by a signal,
 * but by a cancellation: `group_cancellation_cancel` on another thread.
 */
#ifndef GROUP_CONTAINER_H
#define GROUP_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---- */

typedef int32_t group_status;

enum {
    GROUP_OK = 0,
    /* Nothing came within the time; a compare-and-set found another value. No error, and nothing was changed. */
    GROUP_NOTHING = 1,
    /* A callback returned something else than 0. Nothing was changed. */
    GROUP_REFUSED = 2,

    GROUP_INVALID_ARGUMENT = 16,
    GROUP_NOT_FOUND = 17,
    GROUP_CONFLICT = 18,           /* the condition of a write does not hold; `generation` has what is there */
    GROUP_LOCK_TIMED_OUT = 19,     /* `holders` names the processes in the way */
    GROUP_CANCELLED = 20,
    GROUP_DEADLOCK = 21,
    GROUP_WRONG_TYPE = 22,
    GROUP_NOT_EMPTY = 23,
    GROUP_OUTSIDE_CONTAINER = 24,
    GROUP_INVALID_CONTENT = 25,
    GROUP_NOT_PERMITTED = 26,
    GROUP_NO_SPACE = 27,
    GROUP_LIMIT_REACHED = 28,
    GROUP_NOT_DURABLE = 29,        /* the change is made, and visible; a power cut may undo it */
    GROUP_DAMAGED = 30,
    GROUP_NEWER_FORMAT = 31,
    GROUP_OLDER_FORMAT = 32,
    GROUP_UNSUPPORTED_FILE_SYSTEM = 33,
    GROUP_INPUT_OUTPUT = 34,
    GROUP_FORKED = 35,
    GROUP_PRESENTER_FAILED = 36,
    GROUP_PRESENTER_UNRESPONSIVE = 37,
    GROUP_UNAVAILABLE = 38,
    GROUP_UNFINISHED = 39,         /* a killed process left it; groupctl doctor --repair finishes it */
    GROUP_UNKNOWN = 40             /* whether the change was made is not known */
};

/* A process that is in the way. */
typedef struct group_holder {
    int32_t process;
    bool is_writing;               /* its lock is exclusive */
    bool is_presenting;            /* it presents the item, and holds no lock on it */
    int64_t since;                 /* nanoseconds since 1970 */
    const char *purpose;
    const char *item;
    const char *command;           /* the command line; NULL if the system does not provide it */
    const char *condition;         /* "running", "stopped", "zombie"; NULL if the system does not provide it */
} group_holder;

typedef struct group_error {
    group_status status;
    uint64_t generation;           /* with GROUP_CONFLICT: the present one; 0 where there is no item */
    const char *message;           /* a sentence with all of the following */
    const char *operation;         /* "read", "write", "open" */
    const char *item;              /* NULL where the error concerns none; escaped where it is not UTF-8 */
    const char *container;         /* NULL where the error concerns none */
    const char *reason;
    const char *remedy;            /* what the caller can do; NULL where nothing can be done */
    const group_holder *holders;
    size_t holder_count;
} group_error;

void group_error_free(group_error *error);

/* Returns the name of a status, such as "lockTimedOut": the code of the Swift library and of `--json`. NULL for a
 * number that is none. The text lives as long as the library. */
const char *group_status_name(group_status status);

/* Returns the version of the library: "0.3.0". */
const char *group_version(void);

/* ---- Handles ---- */

typedef struct group_container_handle *group_container;
typedef struct group_cancellation_handle *group_cancellation;
typedef struct group_access_handle *group_access;
typedef struct group_follower_handle *group_follower;
typedef struct group_defaults_handle *group_defaults;
typedef struct group_key_follower_handle *group_key_follower;
typedef struct group_channel_handle *group_channel;
typedef struct group_listener_handle *group_listener;
typedef struct group_refresh_handle *group_refresh;

/* Ends waits. A wait that has this in its options ends with GROUP_CANCELLED when `group_cancellation_cancel` is called,
 * and so does each later one. */
group_status group_cancellation_create(group_cancellation *cancellation, group_error **error);
void group_cancellation_cancel(group_cancellation cancellation);
void group_cancellation_close(group_cancellation cancellation);

/* ---- Containers ---- */

#define GROUP_FOREVER INT64_C(-1)

enum {
    /* Creates the container where there is none: in a directory that is made now, or in an empty one of this user. */
    GROUP_CREATE = 1,
    /* With GROUP_CREATE: makes a directory of this user with contents a container; its files become items. */
    GROUP_ADOPT = 2
};

/* Begin with GROUP_OPEN_OPTIONS, and change what is to be different. */
typedef struct group_open_options {
    size_t size;                   /* sizeof(group_open_options) */
    uint32_t flags;                /* GROUP_CREATE, GROUP_ADOPT */
    int64_t timeout;               /* milliseconds to wait for processes that are opening it; GROUP_FOREVER */
    const char *purpose;           /* this program's name in the journal and in others' errors; NULL: its file's name */
    const char *unix_group;        /* a container that is created is for this Unix group; NULL: for the user alone */
} group_open_options;

#define GROUP_OPEN_OPTIONS { sizeof(group_open_options), 0, 30000, NULL, NULL }

/* Opens the container at a path. `options` may be NULL. A process that opens a container again is one member of it. */
group_status group_open(
    const char *path, const group_open_options *options, group_container *container, group_error **error);

/* Opens the container of a group identifier, such as "group.com.example.todo". */
group_status group_open_identifier(
    const char *identifier, const group_open_options *options, group_container *container, group_error **error);

/* The handles that were made of this one stay open. */
void group_close(group_container container);

/* Returns the container's absolute path, to be freed with `group_free`. */
group_status group_container_path(group_container container, char **path, group_error **error);

/* Returns whether this process can only read the container. */
group_status group_container_is_read_only(group_container container, bool *is_read_only, group_error **error);

/* Frees text. */
void group_free(char *text);

/* ---- Items ---- */

enum { GROUP_ALWAYS = 0, GROUP_IF_ABSENT = 1, GROUP_IF_GENERATION = 2 };
enum { GROUP_DURABLE = 0, GROUP_RELAXED = 1 };

/* Begin with GROUP_OPTIONS. A function ignores what does not concern it. */
typedef struct group_options {
    size_t size;                   /* sizeof(group_options) */
    int64_t timeout;               /* milliseconds to wait for locks; 0 tries; GROUP_FOREVER */
    group_cancellation cancellation; /* ends the wait; NULL: nothing does */
    uint32_t durability;           /* GROUP_DURABLE: on the disk when the function returns; GROUP_RELAXED: visible */
    uint32_t condition;            /* GROUP_ALWAYS; else the change is made only if it holds: GROUP_CONFLICT */
    uint64_t generation;           /* with GROUP_IF_GENERATION */
    int32_t mode;                  /* the permissions of a file that is written; -1: as before, or as for a new one */
    bool recursively;              /* also what is in a directory */
    bool replacing;                /* a move or copy may replace its destination */
} group_options;

#define GROUP_OPTIONS { sizeof(group_options), 10000, NULL, GROUP_DURABLE, GROUP_ALWAYS, 0, -1, false, false }

/* What a change did. */
typedef struct group_result {
    uint64_t generation;           /* of the item after the change; 0 where none is known */
    bool is_changed;               /* false where the item was so already */
} group_result;

/* An item's content. `data` is never NULL; a NUL follows it, which `length` does not count. */
typedef struct group_content {
    const uint8_t *data;
    size_t length;
    uint64_t generation;           /* for a later change with GROUP_IF_GENERATION */
} group_content;

void group_content_free(group_content *content);

enum { GROUP_FILE = 1, GROUP_DIRECTORY = 2, GROUP_SYMBOLIC_LINK = 3, GROUP_OTHER = 4 };

typedef struct group_item {
    const char *path;
    uint64_t length;
    int64_t modified_at;           /* nanoseconds since 1970 */
    int32_t type;                  /* GROUP_FILE, … */
} group_item;

typedef struct group_items {
    const group_item *items;
    size_t count;
} group_items;

void group_items_free(group_items *items);

/* In all of these, `options` and `result` may be NULL. */

group_status group_read(
    group_container container, const char *path, const group_options *options, group_content **content,
    group_error **error);
group_status group_write(
    group_container container, const char *path, const void *data, size_t length, const group_options *options,
    group_result *result, group_error **error);
group_status group_remove(
    group_container container, const char *path, const group_options *options, group_result *result,
    group_error **error);
group_status group_move(
    group_container container, const char *path, const char *destination, const group_options *options,
    group_result *result, group_error **error);
group_status group_copy(
    group_container container, const char *path, const char *destination, const group_options *options,
    group_result *result, group_error **error);
group_status group_create_directory(
    group_container container, const char *path, const group_options *options, group_result *result,
    group_error **error);

/* Returns what is directly in a directory, or in the container (`path` NULL), sorted by path; without a lock. */
group_status group_list(group_container container, const char *path, group_items **items, group_error **error);

/* The new content of an item, in the callback of an update. */
typedef struct group_output group_output;

/* Sets the new content, which is copied. Without it, an update that returns 0 leaves the item as it is. */
void group_output_set(group_output *output, const void *data, size_t length);

/* Makes the new content of an item from the present one; `data` is NULL where there is no item. Returns 0, or another
 * number to change nothing: GROUP_REFUSED. */
typedef int (*group_update_function)(void *context, const uint8_t *data, size_t length, group_output *output);

/* Replaces an item's content by what `function` makes of it, under one lock: no change of another process is lost. */
group_status group_update(
    group_container container, const char *path, group_update_function function, void *context,
    const group_options *options, group_result *result, group_error **error);

/* ---- Locks ---- */

/* An item, and what for. A directory stands for all that is in it. */
typedef struct group_intent {
    const char *path;
    bool is_writing;
} group_intent;

/* Locks all items, or none. Each change that is made under the locks is visible and final at once. They end with
 * `group_unlock`, or with the process, however it ends. Meanwhile use the access: a function that is given the
 * container waits for these locks as for those of another process.
 *
 * A thread that waits cannot end the locks that it has taken: GROUP_DEADLOCK, at once, where it would wait for them,
 * directly or through other processes. This is not so any more once another thread has used the access. */
group_status group_lock(
    group_container container, const group_intent *intents, size_t count, const group_options *options,
    group_access *access, group_error **error);

/* The number of the calling thread. No other thread of the process gets it. */
uint64_t group_thread(void);

/* Has the calling thread make its calls for another one, which waits until they return: locks count as taken by that
 * one, until the next call of this function. 0: for itself again. */
void group_call_for(uint64_t thread);

/* Ends the locks. GROUP_NOT_DURABLE: they have ended, but a power cut may undo changes. */
group_status group_unlock(group_access access, group_error **error);

/* Works with the items. Returns 0, or another number to undo all changes: GROUP_REFUSED. The access is the callback's
 * thread's, and ends with it. */
typedef int (*group_transaction_function)(void *context, group_access access);

/* Makes several changes one: other processes see all of them or none, also if this one is killed. `result` has the
 * generation of all changed items. */
group_status group_transaction(
    group_container container, const group_intent *intents, size_t count, group_transaction_function function,
    void *context, const group_options *options, group_result *result, group_error **error);

/* The functions of the same names, under locks that are held. Of the options, those of durability and of waiting are
 * the lock's. */
group_status group_access_read(group_access access, const char *path, group_content **content, group_error **error);
group_status group_access_write(
    group_access access, const char *path, const void *data, size_t length, const group_options *options,
    group_result *result, group_error **error);
group_status group_access_remove(
    group_access access, const char *path, const group_options *options, group_result *result, group_error **error);
group_status group_access_move(
    group_access access, const char *path, const char *destination, const group_options *options,
    group_result *result, group_error **error);
group_status group_access_copy(
    group_access access, const char *path, const char *destination, const group_options *options,
    group_result *result, group_error **error);
group_status group_access_create_directory(
    group_access access, const char *path, const group_options *options, group_result *result, group_error **error);

/* ---- Changes ---- */

enum {
    GROUP_CREATED = 1,
    GROUP_MODIFIED = 2,
    GROUP_REMOVED = 3,
    GROUP_MOVED = 4,               /* from `other_path` to `path` */
    GROUP_EXCHANGED = 5,           /* with `other_path` */
    GROUP_TOUCHED = 6,             /* its permissions, owner or attributes changed, not its content */
    GROUP_PRESENT = 7,             /* it is there: a snapshot */
    GROUP_BOOKMARK = 8,            /* the end of a snapshot */
    GROUP_RESCAN = 9,              /* changes are missing: look at all items */
    GROUP_DEGRADED = 10            /* changes that are made without coordination may not be reported: `reason` */
};

typedef struct group_change {
    int32_t kind;                  /* GROUP_CREATED, … */
    const char *path;              /* "" for a kind that concerns no item */
    const char *other_path;        /* NULL except for GROUP_MOVED and GROUP_EXCHANGED */
    uint64_t sequence;
    uint64_t generation;
    int64_t time;                  /* nanoseconds since 1970 */
    int32_t author_process;        /* 0 for a change that was made without coordination */
    const char *author_purpose;    /* NULL then */
    const char *transaction;       /* the identifier of the transaction of which it is a part; NULL if of none */
    uint32_t transaction_index, transaction_count;
    const char *cursor;            /* the position behind it, to go on from later */
    const char *reason;            /* NULL except for GROUP_DEGRADED */
    int64_t length;                /* of the item; -1 where it is not known */
    int32_t type;                  /* GROUP_FILE, …, also of a directory that is removed; else 0 */
    bool is_coordinated;           /* it was made under a lock */
} group_change;

void group_change_free(group_change *change);

/* Begin with GROUP_FOLLOW_OPTIONS. */
typedef struct group_follow_options {
    size_t size;                   /* sizeof(group_follow_options) */
    const char *since;             /* NULL: from now on; "start"; "snapshot": all items first; or a cursor */
    const char *const *including;  /* patterns, such as "*.json"; ends with NULL; NULL: all items */
    const char *const *excluding;  /* patterns; ends with NULL */
    const char *without_purpose;   /* leaves out the changes of this purpose, such as one's own */
    bool snapshot_after_rescan;    /* after GROUP_RESCAN, all items follow */
    int64_t quiet;                 /* milliseconds: one change a path, when there was no other one so long; 0: all */
    int64_t at_most;               /* milliseconds: the longest that `quiet` holds a change back; 0: ten times it */
} group_follow_options;

#define GROUP_FOLLOW_OPTIONS { sizeof(group_follow_options), NULL, NULL, NULL, NULL, false, 0, 0 }

group_status group_follow(
    group_container container, const group_follow_options *options, group_follower *follower, group_error **error);

/* Returns a descriptor for poll(2), which can be read while there may be a change; -1 for no follower. It is the
 * follower's: do not read from it, and do not close it. */
int group_follower_descriptor(group_follower follower);

/* Returns when all changes that were made before the call, also without coordination, can be followed. */
group_status group_note_uncoordinated_changes(group_container container, group_error **error);

/* Returns the next change; GROUP_NOTHING when none came within `timeout` milliseconds (0: looks; GROUP_FOREVER), or
 * when the wait was cancelled. With `timeout` 0 after GROUP_NOTHING, the descriptor is no longer ready. */
group_status group_follower_next(
    group_follower follower, int64_t timeout, group_cancellation cancellation, group_change **change,
    group_error **error);

/* Returns the position behind the changes that were returned, to be freed with `group_free`. */
group_status group_follower_cursor(group_follower follower, char **cursor, group_error **error);

void group_follower_close(group_follower follower);

/* ---- Defaults: keys and values ---- */

enum {
    GROUP_UNKNOWN_VALUE = 0,       /* of a newer version: cannot be set */
    GROUP_BOOL = 1,
    GROUP_INTEGER = 2,
    GROUP_DOUBLE = 3,
    GROUP_STRING = 4,              /* text */
    GROUP_DATA = 5,                /* bytes */
    GROUP_DATE = 6,                /* seconds since the beginning of 2001 (UTC), in `real` */
    GROUP_URL = 7,                 /* text */
    GROUP_JSON = 8                 /* arrays, dictionaries, and values of Codable types, as JSON in `text` */
};

typedef struct group_value {
    int32_t type;                  /* GROUP_BOOL, … */
    int64_t integer;               /* also 0 or 1 for GROUP_BOOL */
    double real;
    const char *text;              /* or bytes; a NUL follows, which `length` does not count */
    size_t length;
    uint64_t generation;           /* of a value that was read */
} group_value;

void group_value_free(group_value *value);

/* Opens a suite; NULL: the suite "standard". */
group_status group_defaults_open(
    group_container container, const char *suite, group_defaults *defaults, group_error **error);
void group_defaults_close(group_defaults defaults);

/* Returns the value of a key: GROUP_NOTHING where none is set. */
group_status group_defaults_get(group_defaults defaults, const char *key, group_value **value, group_error **error);

/* Returns the generation of the suite's last change, of any key: what was read of a key after a call is the present value
 * as long as later calls return the same. 0 where nothing was ever set, and where the suite cannot be read: then
 * group_defaults_get says why. */
uint64_t group_defaults_generation(group_defaults defaults);

/* Sets a value; NULL removes it. `generation` may be NULL. */
group_status group_defaults_set(
    group_defaults defaults, const char *key, const group_value *value, const group_options *options,
    uint64_t *generation, group_error **error);

/* Sets a value if the present one is `expected` (NULL: none); else GROUP_NOTHING. */
group_status group_defaults_compare_and_set(
    group_defaults defaults, const char *key, const group_value *expected, const group_value *value,
    const group_options *options, group_error **error);

/* Adds a number to a whole number, and returns the sum; a key without a value counts as 0. */
group_status group_defaults_increment(
    group_defaults defaults, const char *key, int64_t by, const group_options *options, int64_t *sum,
    group_error **error);

/* Returns the keys that are set, sorted, as `path` of each item. */
group_status group_defaults_keys(group_defaults defaults, group_items **keys, group_error **error);

typedef struct group_key_change {
    const char *key;
    const char *suite;
    const group_value *old_value, *new_value; /* NULL where none was, or is, set */
    uint64_t generation;
    int32_t author_process;
    const char *author_purpose;
    const char *cursor;
    int32_t kind;                  /* GROUP_MODIFIED; GROUP_RESCAN: changes are missing, read the keys anew */
} group_key_change;

void group_key_change_free(group_key_change *change);

/* Follows keys; `keys` ends with NULL, and NULL are all keys. `since` is as in `group_follow_options`. */
group_status group_defaults_follow(
    group_defaults defaults, const char *const *keys, const char *since, group_key_follower *follower,
    group_error **error);
int group_key_follower_descriptor(group_key_follower follower);
group_status group_key_follower_next(
    group_key_follower follower, int64_t timeout, group_cancellation cancellation, group_key_change **change,
    group_error **error);
void group_key_follower_close(group_key_follower follower);

/* ---- Channels: messages ---- */

group_status group_channel_open(
    group_container container, const char *name, group_channel *channel, group_error **error);
void group_channel_close(group_channel channel);

/* Posts a message to all listeners, and returns its number. `data` NULL: a signal without content. */
group_status group_channel_post(
    group_channel channel, const void *data, size_t length, const group_options *options, uint64_t *number,
    group_error **error);

/* Listens under a name. A listener that comes back gets what it has not acknowledged. `from_start`: a new one gets the
 * messages that are still there. GROUP_CONFLICT: another process listens under that name. */
group_status group_channel_listen(
    group_channel channel, const char *name, bool from_start, group_listener *listener, group_error **error);

typedef struct group_message {
    uint64_t number;
    const uint8_t *data;           /* NULL for a signal; a NUL follows, which `length` does not count */
    size_t length;
    int64_t time;                  /* nanoseconds since 1970 */
    int32_t author_process;
    const char *author_purpose;
} group_message;

void group_message_free(group_message *message);

int group_listener_descriptor(group_listener listener);
group_status group_listener_next(
    group_listener listener, int64_t timeout, group_cancellation cancellation, group_message **message,
    group_error **error);

/* Acknowledges the messages up to a number: they are not delivered again. */
group_status group_listener_acknowledge(
    group_listener listener, uint64_t number, const group_options *options, group_error **error);
void group_listener_close(group_listener listener);

/* ---- Refreshes of widgets ---- */

/* Begins a refresh of the widget `kind`, and sets `is_needed`: whether something that concerns the widget has changed
 * since the last refresh. If nothing has, the refresh has ended, and `refresh` is NULL. Waits for other refreshes of
 * the kind. `interests` ends with NULL: patterns for paths; "metadata:PATTERN", also where an item is only touched;
 * "defaults:SUITE" and "defaults:SUITE:KEY". With `is_reload`, a refresh is needed in any case. */
group_status group_refresh_begin(
    group_container container, const char *kind, const char *const *interests, bool is_reload,
    const group_options *options, group_refresh *refresh, bool *is_needed, group_error **error);

/* Returns the snapshot that was delivered last: GROUP_NOTHING where none was. Its generation is 0. */
group_status group_refresh_last(group_refresh refresh, group_content **snapshot, group_error **error);

/* Delivers a new snapshot. Returns 0, or another number if it was not delivered. */
typedef int (*group_deliver_function)(void *context, const uint8_t *data, size_t length);

/* Ends a refresh with what the widget shows, at most 32 MiB, and sets `is_new`: whether that differs from what it has
 * shown. If so, `deliver` (or NULL) is called, and only then the widget's position moves on; if it returns another
 * number than 0, the refresh has failed: GROUP_REFUSED. */
group_status group_refresh_finish(
    group_refresh refresh, const void *data, size_t length, group_deliver_function deliver, void *context, bool *is_new,
    group_error **error);

/* Ends a refresh that is not finished: it has failed, and the next one gets the same changes again. */
void group_refresh_close(group_refresh refresh);

#ifdef __cplusplus
}
#endif

#endif
