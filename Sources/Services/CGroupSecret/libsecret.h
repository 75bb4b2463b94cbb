// The declarations of libsecret and GLib that shim.h uses, as their documentation has them, for all versions of libsecret
// 0.20 and GLib 2. Their own headers are in directories that only pkg-config knows, and the package manager would ask
// pkg-config also where the trait Secrets is off.
#include <stddef.h>

typedef char gchar;
typedef int gint;
typedef int gboolean;
typedef unsigned int guint;
typedef unsigned long gsize;
typedef long gssize;
typedef unsigned long GType;
typedef guint GQuark;
typedef void *gpointer;
typedef const void *gconstpointer;
typedef void (*GDestroyNotify)(gpointer);
typedef guint (*GHashFunc)(gconstpointer);
typedef gboolean (*GEqualFunc)(gconstpointer, gconstpointer);

typedef struct _GError {
    GQuark domain;
    gint code;
    gchar *message;
} GError;

typedef struct _GList {
    gpointer data;
    struct _GList *next;
    struct _GList *prev;
} GList;

typedef struct _GPtrArray {
    gpointer *pdata;
    guint len;
} GPtrArray;

typedef struct _GHashTable GHashTable;
typedef struct _GMainContext GMainContext;
typedef struct _GCancellable GCancellable;
typedef struct _GDBusConnection GDBusConnection;

enum { FALSE = 0, TRUE = 1 };
enum { G_IO_ERROR_CLOSED = 18, G_IO_ERROR_CANCELLED = 19, G_IO_ERROR_TIMED_OUT = 24 };
enum {
    G_DBUS_ERROR_SERVICE_UNKNOWN = 2,
    G_DBUS_ERROR_NAME_HAS_NO_OWNER = 3,
    G_DBUS_ERROR_NO_REPLY = 4,
    G_DBUS_ERROR_DISCONNECTED = 15,
};
typedef enum { G_BUS_TYPE_SESSION = 2 } GBusType;

void g_free(gpointer);
gchar *g_strdup(const gchar *);
gchar *g_strdup_printf(const gchar *, ...) __attribute__((format(printf, 1, 2)));
gint g_snprintf(gchar *, size_t, const gchar *, ...) __attribute__((format(printf, 3, 4)));
gsize g_strlcpy(gchar *, const gchar *, gsize);
gboolean g_str_has_prefix(const gchar *, const gchar *);
void g_strfreev(gchar **);
const gchar *g_quark_to_string(GQuark);

void g_error_free(GError *);
void g_clear_error(GError **);
gboolean g_error_matches(const GError *, GQuark, gint);

GHashTable *g_hash_table_new_full(GHashFunc, GEqualFunc, GDestroyNotify, GDestroyNotify);
gboolean g_hash_table_insert(GHashTable *, gpointer, gpointer);
gpointer g_hash_table_lookup(GHashTable *, gconstpointer);
void g_hash_table_unref(GHashTable *);
guint g_str_hash(gconstpointer);
gboolean g_str_equal(gconstpointer, gconstpointer);
GList *g_list_append(GList *, gpointer);
void g_list_free(GList *);
void g_list_free_full(GList *, GDestroyNotify);
GPtrArray *g_ptr_array_new(void);
void g_ptr_array_add(GPtrArray *, gpointer);
gpointer *g_ptr_array_free(GPtrArray *, gboolean);

GMainContext *g_main_context_new(void);
gboolean g_main_context_iteration(GMainContext *, gboolean);
void g_main_context_push_thread_default(GMainContext *);
void g_main_context_pop_thread_default(GMainContext *);
void g_main_context_unref(GMainContext *);

void g_object_unref(gpointer);
GCancellable *g_cancellable_new(void);
void g_cancellable_cancel(GCancellable *);
gboolean g_cancellable_is_cancelled(GCancellable *);
GQuark g_io_error_quark(void);
GQuark g_dbus_error_quark(void);
gchar *g_dbus_error_get_remote_error(const GError *);
gchar *g_dbus_address_get_for_bus_sync(GBusType, GCancellable *, GError **);
GDBusConnection *g_bus_get_sync(GBusType, GCancellable *, GError **);
void g_dbus_connection_set_exit_on_close(GDBusConnection *, gboolean);

typedef enum { SECRET_SCHEMA_NONE = 0 } SecretSchemaFlags;
typedef enum { SECRET_SCHEMA_ATTRIBUTE_STRING = 0 } SecretSchemaAttributeType;
typedef enum { SECRET_SERVICE_OPEN_SESSION = 1 << 1 } SecretServiceFlags;
typedef enum { SECRET_COLLECTION_NONE = 0 } SecretCollectionFlags;
typedef enum { SECRET_SEARCH_ALL = 1 << 1 } SecretSearchFlags;
typedef enum { SECRET_ITEM_CREATE_REPLACE = 1 << 1 } SecretItemCreateFlags;
enum { SECRET_ERROR_IS_LOCKED = 2 };
#define SECRET_COLLECTION_DEFAULT "default"

typedef struct {
    const gchar *name;
    SecretSchemaAttributeType type;
} SecretSchemaAttribute;

typedef struct _SecretSchema {
    const gchar *name;
    SecretSchemaFlags flags;
    SecretSchemaAttribute attributes[32];
    gint reserved;
    gpointer reserved_pointers[7];
} SecretSchema;

typedef struct _SecretService SecretService;
typedef struct _SecretCollection SecretCollection;
typedef struct _SecretItem SecretItem;
typedef struct _SecretValue SecretValue;

GQuark secret_error_get_quark(void);
GType secret_service_get_type(void);
SecretService *secret_service_open_sync(GType, const gchar *, SecretServiceFlags, GCancellable *, GError **);
GList *secret_service_search_sync(
    SecretService *, const SecretSchema *, GHashTable *, SecretSearchFlags, GCancellable *, GError **);
gint secret_service_unlock_sync(SecretService *, GList *, GCancellable *, GList **, GError **);
SecretCollection *secret_collection_for_alias_sync(
    SecretService *, const gchar *, SecretCollectionFlags, GCancellable *, GError **);
gboolean secret_collection_get_locked(SecretCollection *);
SecretItem *secret_item_create_sync(
    SecretCollection *, const SecretSchema *, GHashTable *, const gchar *, SecretValue *, SecretItemCreateFlags,
    GCancellable *, GError **);
gboolean secret_item_delete_sync(SecretItem *, GCancellable *, GError **);
gboolean secret_item_load_secret_sync(SecretItem *, GCancellable *, GError **);
gboolean secret_item_get_locked(SecretItem *);
GHashTable *secret_item_get_attributes(SecretItem *);
SecretValue *secret_item_get_secret(SecretItem *);
SecretValue *secret_value_new(const gchar *, gssize, const gchar *);
const gchar *secret_value_get(SecretValue *, gsize *);
void secret_value_unref(gpointer);

// What is a macro there.
#define G_IO_ERROR g_io_error_quark()
#define G_DBUS_ERROR g_dbus_error_quark()
#define SECRET_ERROR secret_error_get_quark()
#define SECRET_TYPE_SERVICE secret_service_get_type()
#define SECRET_ITEM(object) ((SecretItem *)(object))
#define g_clear_object(place) group_secret_clear((void **)(place), g_object_unref)
#define g_clear_pointer(place, release) group_secret_clear((void **)(place), (GDestroyNotify)(release))

static inline void group_secret_clear(void **place, GDestroyNotify release) {
    void *object = *place;
    *place = NULL;
    if (object != NULL) {
        release(object);
    }
}
