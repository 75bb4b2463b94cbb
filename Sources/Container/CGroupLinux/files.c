#include "CGroupLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

int clinux_openat2(int directory, const char *path, int flags, uint32_t mode, uint64_t resolve) {
    struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC, .mode = mode, .resolve = resolve};
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

ssize_t clinux_list_attributes(int directory, const char *name, char *buffer, size_t size) {
    enum { listxattrat_number = 465 };  // the same on all machines
    static _Atomic int is_missing;
    if (!atomic_load(&is_missing)) {
        ssize_t count = syscall(listxattrat_number, directory, name, AT_SYMLINK_NOFOLLOW, buffer, size);
        if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
        atomic_store(&is_missing, 1);
    }
    char path[NAME_MAX + 64];
    if (snprintf(path, sizeof path, "/proc/thread-self/fd/%d/%s", directory, name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return llistxattr(path, buffer, size);
}

// Ten years: what is before 1960 or after 2252 counts as that moment, so that moments can be subtracted, and years added,
// in 64 bits. touch(1) gives a file any date.
#define CLINUX_MARGIN (10 * 366 * 86400 * 1000000000LL)

int64_t clinux_nanoseconds(int64_t seconds, int64_t rest) {
    if (seconds < -CLINUX_MARGIN / 1000000000) {
        return -CLINUX_MARGIN;
    }
    if (seconds >= (INT64_MAX - CLINUX_MARGIN) / 1000000000) {
        return INT64_MAX - CLINUX_MARGIN;
    }
    return seconds * 1000000000 + rest;
}

int clinux_statx(int directory, const char *path, clinux_status *status) {
    struct statx s;
    int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
    // With a path it costs a detour.
    if (path[0] == 0) flags |= AT_EMPTY_PATH;
    // 0x4000 is STATX_MNT_ID_UNIQUE (Linux 6.8): never used again after an unmount. Older kernels return the other one.
    unsigned mask = STATX_BASIC_STATS | STATX_MNT_ID | 0x4000;
    if (statx(directory, path, flags, mask, &s) != 0) return -1;
    status->inode = s.stx_ino;
    status->size = s.stx_size;
    status->mountID = s.stx_mnt_id;
    status->mountIsUnique = (s.stx_mask & 0x4000) != 0;
    status->allocated = s.stx_blocks * 512;
    status->modified = clinux_nanoseconds(s.stx_mtime.tv_sec, s.stx_mtime.tv_nsec);
    status->modifiedSeconds = s.stx_mtime.tv_sec;
    status->modifiedRest = s.stx_mtime.tv_nsec;
    status->changed = clinux_nanoseconds(s.stx_ctime.tv_sec, s.stx_ctime.tv_nsec);
    status->mode = s.stx_mode;
    status->owner = s.stx_uid;
    status->group = s.stx_gid;
    status->links = s.stx_nlink;
    status->deviceMajor = s.stx_dev_major;
    status->deviceMinor = s.stx_dev_minor;
    status->node = makedev(s.stx_rdev_major, s.stx_rdev_minor);
    return 0;
}

int clinux_renameat2(int from, const char *old, int to, const char *new_, unsigned flags) {
    return renameat2(from, old, to, new_, flags);
}

long clinux_filesystem_type(int descriptor) {
    struct statfs s;
    return fstatfs(descriptor, &s) == 0 ? (long)(uint32_t)s.f_type : -1;
}

int clinux_filesystem_uuid(int descriptor, uint8_t uuid[16]) {
    struct btrfs_ioctl_fs_info_args info;
    if (ioctl(descriptor, BTRFS_IOC_FS_INFO, &info) != 0) return -1;
    memcpy(uuid, info.fsid, 16);
    return 0;
}

int clinux_set_nocow(int descriptor) {
    int flags = 0;
    if (ioctl(descriptor, FS_IOC_GETFLAGS, &flags) != 0) return -1;
    flags |= FS_NOCOW_FL;
    return ioctl(descriptor, FS_IOC_SETFLAGS, &flags);
}

int clinux_allocate(int descriptor, int64_t size) { return fallocate(descriptor, 0, 0, size); }

int clinux_free_range(int descriptor, int64_t start, int64_t length) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, length);
}

int64_t clinux_next_content(int descriptor, int64_t offset) { return lseek(descriptor, offset, SEEK_DATA); }

int64_t clinux_next_hole(int descriptor, int64_t offset) { return lseek(descriptor, offset, SEEK_HOLE); }

int clinux_clone(int to, int from) { return ioctl(to, FICLONE, from); }

long clinux_copy_range(int from, int to, size_t length) { return copy_file_range(from, NULL, to, NULL, length, 0); }

int clinux_begin_writing(int descriptor) { return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE); }

int clinux_sync_filesystem(int descriptor) { return syncfs(descriptor); }

int clinux_memory_file(void) { return memfd_create("input", MFD_CLOEXEC); }

long clinux_write_now(int descriptor, const void *bytes, size_t count) {
    struct iovec piece = {.iov_base = (void *)bytes, .iov_len = count};
    return pwritev2(descriptor, &piece, 1, -1, RWF_NOWAIT);
}

int clinux_pipe(int32_t ends[2]) { return pipe2(ends, O_CLOEXEC); }

int clinux_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

int clinux_free_space(int descriptor, uint64_t *bytes, uint64_t *inodes) {
    struct statfs s;
    if (fstatfs(descriptor, &s) != 0) return -1;
    *bytes = (uint64_t)s.f_bavail * (uint64_t)s.f_bsize;
    // A file system that makes them as it needs them states none at all.
    *inodes = s.f_files == 0 ? UINT64_MAX : (uint64_t)s.f_ffree;
    return 0;
}
