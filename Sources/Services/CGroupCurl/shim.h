#if !__has_include(<curl/curl.h>) || !__has_include(<openssl/evp.h>)
#error "group-container: the trait Curl needs libcurl4-openssl-dev libssl-dev: apt-get install libcurl4-openssl-dev libssl-dev, or build without the trait"
#else

#include <curl/curl.h>
#include <openssl/evp.h>
#include <sys/socket.h>

// Swift does not import functions with a variable number of arguments.
static inline CURLcode group_curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode group_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode group_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode group_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode group_curl_set_errors(CURL *handle, char *buffer) {
    return curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, buffer);
}

typedef size_t (*group_curl_data)(char *, size_t, size_t, void *);
typedef int (*group_curl_progress)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

static inline void group_curl_set_calls(
    CURL *handle, group_curl_data header, group_curl_data body, group_curl_data source, group_curl_progress progress,
    void *context) {
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, source);
    curl_easy_setopt(handle, CURLOPT_READDATA, context);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
}

static inline CURLcode group_curl_status(CURL *handle, long *status) {
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, status);
}

static inline const char *group_curl_redirect(CURL *handle) {
    char *url = NULL;
    return curl_easy_getinfo(handle, CURLINFO_REDIRECT_URL, &url) == CURLE_OK ? url : NULL;
}

// Sets what takes the body of a response, and what returns the body of the request.
static inline void group_curl_set_bodies(CURL *handle, group_curl_data body, group_curl_data source, void *context) {
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, source);
    curl_easy_setopt(handle, CURLOPT_READDATA, context);
}

static inline curl_socket_t group_curl_open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Lets no program that this process starts inherit a connection.
static inline void group_curl_close_on_exec(CURL *handle) {
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, group_curl_open_socket);
}

// Lets a request end at its limit while a name is looked up, and not when the look-up ends. (libcurl 7.87)
static inline void group_curl_leave_lookups(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)handle;
#endif
}

#endif
