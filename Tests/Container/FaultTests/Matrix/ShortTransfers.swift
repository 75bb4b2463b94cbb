import Foundation
import GroupSystemCalls
import TestSupport

/// A library that stands between a program and its transfers, and really transfers half of what was requested: strace
/// could only change the result, while nothing was transferred.
enum ShortTransfers {
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <sys/types.h>
        #define HALF(count) ((count) > 1 ? (count) / 2 : (count))
        #define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
        ssize_t read(int file, void *to, size_t count);
        ssize_t write(int file, const void *from, size_t count);
        ssize_t pread(int file, void *to, size_t count, off_t place);
        ssize_t pwrite(int file, const void *from, size_t count, off_t place);
        ssize_t copy_file_range(int in, off_t *a, int out, off_t *b, size_t count, unsigned flags);
        ssize_t read(int file, void *to, size_t count) { return REAL(read)(file, to, HALF(count)); }
        ssize_t write(int file, const void *from, size_t count) { return REAL(write)(file, from, HALF(count)); }
        ssize_t pread(int file, void *to, size_t count, off_t place) {
            return REAL(pread)(file, to, HALF(count), place);
        }
        ssize_t pwrite(int file, const void *from, size_t count, off_t place) {
            return REAL(pwrite)(file, from, HALF(count), place);
        }
        ssize_t copy_file_range(int in, off_t *a, int out, off_t *b, size_t count, unsigned flags) {
            return REAL(copy_file_range)(in, a, out, b, HALF(count), flags);
        }
        """

    private static let directory = try? TemporaryDirectory()

    /// Nil if no compiler builds it; Swift's toolchain has one.
    static let library: String? = {
        guard let directory else { return nil }
        let (source, library) = ("\(directory.path)/short.c", "\(directory.path)/short.so")
        guard (try? directory.put(Self.source, at: "short.c")) != nil else { return nil }
        let compilers = ["clang", "cc"]
        return compilers.contains { succeeds([$0, "-shared", "-fPIC", "-O1", "-o", library, source]) } ? library : nil
    }()
}
