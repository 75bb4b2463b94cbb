// Atomic access to words in memory that other processes have mapped.
#ifndef CGROUPLINUX_ATOMICS_H
#define CGROUPLINUX_ATOMICS_H

#include <stdint.h>

static inline uint64_t clinux_load64(const void *word) { return __atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE); }
static inline void clinux_store64(void *word, uint64_t value) { __atomic_store_n((uint64_t *)word, value, __ATOMIC_RELEASE); }
static inline int clinux_exchange64(void *word, uint64_t expected, uint64_t desired) {
    return __atomic_compare_exchange_n((uint64_t *)word, &expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}
static inline uint64_t clinux_or64(void *word, uint64_t bits) { return __atomic_fetch_or((uint64_t *)word, bits, __ATOMIC_SEQ_CST); }
static inline uint64_t clinux_and64(void *word, uint64_t bits) { return __atomic_fetch_and((uint64_t *)word, bits, __ATOMIC_SEQ_CST); }
static inline uint64_t clinux_add64(void *word, uint64_t value) { return __atomic_fetch_add((uint64_t *)word, value, __ATOMIC_SEQ_CST); }

static inline uint32_t clinux_load32(const void *word) { return __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE); }
static inline void clinux_store32(void *word, uint32_t value) { __atomic_store_n((uint32_t *)word, value, __ATOMIC_RELEASE); }
static inline int clinux_exchange32(void *word, uint32_t expected, uint32_t desired) {
    return __atomic_compare_exchange_n((uint32_t *)word, &expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}
static inline uint32_t clinux_add32(void *word, uint32_t value) { return __atomic_fetch_add((uint32_t *)word, value, __ATOMIC_SEQ_CST); }
static inline void clinux_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#endif
