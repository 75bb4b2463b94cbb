#if !__has_include("/usr/include/libsecret-1/libsecret/secret.h") && !__has_include("/usr/local/include/libsecret-1/libsecret/secret.h")
#error "group-container: the trait Secrets needs libsecret-1-dev: apt-get install libsecret-1-dev, or build without the trait"
#else

#include "libsecret.h"
#include <string.h>

// The calls of libsecret that have a variable number of arguments or work on GObjects, as one function for each call of
// GroupSecrets. No function reads or writes a file: they speak with the desktop's secret service over the session bus, and
// never use libsecret's backends (`secret_password_*`), one of which is a file.

typedef enum {
    GROUP_SECRET_DONE,
    GROUP_SECRET_ABSENT,
    GROUP_SECRET_LOCKED,
    GROUP_SECRET_NO_BUS,
    GROUP_SECRET_NO_SERVICE,
    GROUP_SECRET_NO_COLLECTION,
    GROUP_SECRET_CANCELLED,
    GROUP_SECRET_FAILED,
} group_secret_status;

// What a call failed with: the name of the bus's error or the number of another one. Messages of the service are not
// passed on, because their content is the service's.
typedef struct {
    char reason[128];
} group_secret_fault;

static inline GCancellable *group_secret_cancellable(void) {
    return g_cancellable_new();
}

static inline void group_secret_release(GCancellable *cancellable) {
    g_object_unref(cancellable);
}

static inline const SecretSchema *group_secret_schema(void) {
    static const SecretSchema schema = {
        "group-container.secret",
        SECRET_SCHEMA_NONE,
        {
            {"group", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"name", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {NULL, SECRET_SCHEMA_ATTRIBUTE_STRING},
        },
        0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    };
    return &schema;
}

// Frees the error, and returns what it means.
static inline group_secret_status group_secret_failure(GError *error, group_secret_fault *fault) {
    group_secret_status status = GROUP_SECRET_FAILED;
    if (error == NULL) {
        g_strlcpy(fault->reason, "no reason was given", sizeof fault->reason);
        return status;
    }
    char *remote = g_dbus_error_get_remote_error(error);
    if (remote != NULL) {
        g_strlcpy(fault->reason, remote, sizeof fault->reason);
    } else {
        g_snprintf(
            fault->reason, sizeof fault->reason, "%s %d", g_quark_to_string(error->domain), error->code);
    }
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED) ||
        g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)) {
        status = GROUP_SECRET_CANCELLED;
    } else if (g_error_matches(error, SECRET_ERROR, SECRET_ERROR_IS_LOCKED)) {
        status = GROUP_SECRET_LOCKED;
    } else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CLOSED) ||
        g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_DISCONNECTED)) {
        status = GROUP_SECRET_NO_BUS;
    } else if (
        g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_SERVICE_UNKNOWN) ||
        g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_NAME_HAS_NO_OWNER) ||
        // The service has ended before it answered.
        g_error_matches(error, G_DBUS_ERROR, G_DBUS_ERROR_NO_REPLY) ||
        (remote != NULL && strncmp(remote, "org.freedesktop.DBus.Error.Spawn.", 33) == 0)) {
        status = GROUP_SECRET_NO_SERVICE;
    } else if (remote != NULL && strcmp(remote, "org.freedesktop.Secret.Error.IsLocked") == 0) {
        status = GROUP_SECRET_LOCKED;
    }
    g_free(remote);
    g_error_free(error);
    return status;
}

// The objects of one call. All that the call leaves to be done later is done, or dropped, in a context of its own, which no
// other thread waits for.
typedef struct {
    GMainContext *context;
    GDBusConnection *connection;
    SecretService *service;
} group_secret_session;

static inline void group_secret_close(group_secret_session *session) {
    g_clear_object(&session->service);
    g_clear_object(&session->connection);
    while (g_main_context_iteration(session->context, FALSE)) {
    }
    g_main_context_pop_thread_default(session->context);
    g_main_context_unref(session->context);
}

// Opens a session of the secret service. Close it in any case.
static inline group_secret_status group_secret_open(
    GCancellable *cancellable, group_secret_session *session, group_secret_fault *fault) {
    *session = (group_secret_session){.context = g_main_context_new()};
    g_main_context_push_thread_default(session->context);
    GError *error = NULL;
    char *address = g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, cancellable, &error);
    // GLib would start a bus for this address, which no other program of the session is connected to.
    gboolean is_absent = address == NULL || g_str_has_prefix(address, "autolaunch:");
    g_free(address);
    while (!is_absent) {
        session->connection = g_bus_get_sync(G_BUS_TYPE_SESSION, cancellable, &error);
        if (session->connection != NULL || g_cancellable_is_cancelled(cancellable) ||
            !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
            break;
        }
        // The process has one connection for all calls: another call has begun this one, and was cancelled.
        g_clear_error(&error);
        g_thread_yield();
    }
    if (session->connection == NULL) {
        if (error != NULL && group_secret_failure(error, fault) == GROUP_SECRET_CANCELLED) {
            return GROUP_SECRET_CANCELLED;
        }
        return GROUP_SECRET_NO_BUS;
    }
    // Otherwise GLib ends the process when the bus ends.
    g_dbus_connection_set_exit_on_close(session->connection, FALSE);
    session->service =
        secret_service_open_sync(SECRET_TYPE_SERVICE, NULL, SECRET_SERVICE_OPEN_SESSION, cancellable, &error);
    return session->service != NULL ? GROUP_SECRET_DONE : group_secret_failure(error, fault);
}

// Returns the default collection, unlocked: GROUP_SECRET_LOCKED without a prompt where it is locked.
static inline group_secret_status group_secret_collection(
    SecretService *service, GCancellable *cancellable, SecretCollection **collection, group_secret_fault *fault) {
    GError *error = NULL;
    *collection =
        secret_collection_for_alias_sync(service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_NONE, cancellable, &error);
    if (*collection == NULL) {
        return error == NULL ? GROUP_SECRET_NO_COLLECTION : group_secret_failure(error, fault);
    }
    if (secret_collection_get_locked(*collection)) {
        g_clear_object(collection);
        return GROUP_SECRET_LOCKED;
    }
    return GROUP_SECRET_DONE;
}

static inline GHashTable *group_secret_attributes(const char *group, const char *name) {
    GHashTable *attributes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_hash_table_insert(attributes, g_strdup("group"), g_strdup(group));
    if (name != NULL) {
        g_hash_table_insert(attributes, g_strdup("name"), g_strdup(name));
    }
    return attributes;
}

// Finds the secrets of a group, or one of them, without a prompt. Where one of them is locked, or none is found and the
// default collection is locked, the result is GROUP_SECRET_LOCKED: a service need not show what is in a locked one.
static inline group_secret_status group_secret_search(
    SecretService *service, GCancellable *cancellable, const char *group, const char *name, GList **items,
    group_secret_fault *fault) {
    GError *error = NULL;
    GHashTable *attributes = group_secret_attributes(group, name);
    *items = secret_service_search_sync(
        service, group_secret_schema(), attributes, SECRET_SEARCH_ALL, cancellable, &error);
    g_hash_table_unref(attributes);
    if (error != NULL) {
        return group_secret_failure(error, fault);
    }
    for (GList *item = *items; item != NULL; item = item->next) {
        if (secret_item_get_locked(SECRET_ITEM(item->data))) {
            g_list_free_full(*items, g_object_unref);
            *items = NULL;
            return GROUP_SECRET_LOCKED;
        }
    }
    if (*items != NULL) {
        return GROUP_SECRET_DONE;
    }
    SecretCollection *collection = NULL;
    group_secret_status status = group_secret_collection(service, cancellable, &collection, fault);
    g_clear_object(&collection);
    return status == GROUP_SECRET_DONE || status == GROUP_SECRET_NO_COLLECTION ? GROUP_SECRET_ABSENT : status;
}

static inline group_secret_status group_secret_store(
    GCancellable *cancellable, const char *group, const char *name, const char *bytes, size_t count,
    group_secret_fault *fault) {
    group_secret_session session;
    group_secret_status status = group_secret_open(cancellable, &session, fault);
    if (status != GROUP_SECRET_DONE) {
        group_secret_close(&session);
        return status;
    }
    SecretCollection *collection = NULL;
    status = group_secret_collection(session.service, cancellable, &collection, fault);
    if (status == GROUP_SECRET_DONE) {
        GError *error = NULL;
        GHashTable *attributes = group_secret_attributes(group, name);
        char *label = g_strdup_printf("%s (%s)", name, group);
        SecretValue *value = secret_value_new(count == 0 ? "" : bytes, (gssize)count, "application/octet-stream");
        SecretItem *item = secret_item_create_sync(
            collection, group_secret_schema(), attributes, label, value, SECRET_ITEM_CREATE_REPLACE, cancellable, &error);
        secret_value_unref(value);
        g_free(label);
        g_hash_table_unref(attributes);
        if (item == NULL) {
            status = group_secret_failure(error, fault);
        }
        g_clear_object(&item);
    }
    g_clear_object(&collection);
    group_secret_close(&session);
    return status;
}

// Returns the value of a secret; the caller releases it with secret_value_unref.
static inline group_secret_status group_secret_lookup(
    GCancellable *cancellable, const char *group, const char *name, void **value, group_secret_fault *fault) {
    group_secret_session session;
    group_secret_status status = group_secret_open(cancellable, &session, fault);
    if (status != GROUP_SECRET_DONE) {
        group_secret_close(&session);
        return status;
    }
    GList *items = NULL;
    status = group_secret_search(session.service, cancellable, group, name, &items, fault);
    if (status == GROUP_SECRET_DONE) {
        GError *error = NULL;
        SecretItem *item = SECRET_ITEM(items->data);
        if (secret_item_load_secret_sync(item, cancellable, &error)) {
            *value = secret_item_get_secret(item);
            // A collection that was locked since the search.
            status = *value == NULL ? GROUP_SECRET_LOCKED : GROUP_SECRET_DONE;
        } else {
            status = group_secret_failure(error, fault);
        }
    }
    g_list_free_full(items, g_object_unref);
    group_secret_close(&session);
    return status;
}

static inline group_secret_status group_secret_remove(
    GCancellable *cancellable, const char *group, const char *name, group_secret_fault *fault) {
    group_secret_session session;
    group_secret_status status = group_secret_open(cancellable, &session, fault);
    if (status != GROUP_SECRET_DONE) {
        group_secret_close(&session);
        return status;
    }
    GList *items = NULL;
    status = group_secret_search(session.service, cancellable, group, name, &items, fault);
    for (GList *item = items; item != NULL && status == GROUP_SECRET_DONE; item = item->next) {
        GError *error = NULL;
        if (!secret_item_delete_sync(SECRET_ITEM(item->data), cancellable, &error)) {
            status = group_secret_failure(error, fault);
        }
    }
    g_list_free_full(items, g_object_unref);
    group_secret_close(&session);
    return status;
}

// Returns the names of a group's secrets; the caller frees them with g_strfreev.
static inline group_secret_status group_secret_names(
    GCancellable *cancellable, const char *group, char ***names, group_secret_fault *fault) {
    group_secret_session session;
    group_secret_status status = group_secret_open(cancellable, &session, fault);
    if (status != GROUP_SECRET_DONE) {
        group_secret_close(&session);
        return status;
    }
    GList *items = NULL;
    status = group_secret_search(session.service, cancellable, group, NULL, &items, fault);
    if (status == GROUP_SECRET_DONE) {
        GPtrArray *found = g_ptr_array_new();
        for (GList *item = items; item != NULL; item = item->next) {
            GHashTable *attributes = secret_item_get_attributes(SECRET_ITEM(item->data));
            const char *name = attributes == NULL ? NULL : g_hash_table_lookup(attributes, "name");
            if (name != NULL) {
                g_ptr_array_add(found, g_strdup(name));
            }
            g_clear_pointer(&attributes, g_hash_table_unref);
        }
        g_ptr_array_add(found, NULL);
        *names = (char **)g_ptr_array_free(found, FALSE);
    }
    g_list_free_full(items, g_object_unref);
    group_secret_close(&session);
    return status;
}

// Unlocks the default collection, by a prompt of the service where it needs one.
static inline group_secret_status group_secret_unlock(GCancellable *cancellable, group_secret_fault *fault) {
    group_secret_session session;
    group_secret_status status = group_secret_open(cancellable, &session, fault);
    if (status != GROUP_SECRET_DONE) {
        group_secret_close(&session);
        return status;
    }
    GError *error = NULL;
    SecretCollection *collection =
        secret_collection_for_alias_sync(session.service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_NONE, cancellable, &error);
    if (collection == NULL) {
        status = error == NULL ? GROUP_SECRET_NO_COLLECTION : group_secret_failure(error, fault);
    } else if (secret_collection_get_locked(collection)) {
        GList *objects = g_list_append(NULL, collection);
        int count = secret_service_unlock_sync(session.service, objects, cancellable, NULL, &error);
        g_list_free(objects);
        if (error != NULL) {
            status = group_secret_failure(error, fault);
        } else if (count < 1) {
            // The user has dismissed the prompt.
            status = GROUP_SECRET_LOCKED;
        }
    }
    g_clear_object(&collection);
    group_secret_close(&session);
    return status;
}

// The value of a secret, whose type Swift does not import.
static inline void group_secret_free_value(void *value) {
    secret_value_unref(value);
}

static inline const char *group_secret_bytes(void *value, long *count) {
    gsize length = 0;
    const char *bytes = secret_value_get((SecretValue *)value, &length);
    *count = (long)length;
    return bytes;
}

static inline const char *group_secret_reason(const group_secret_fault *fault) {
    return fault->reason;
}

#endif
