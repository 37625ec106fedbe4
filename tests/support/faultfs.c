/* A file system that fails on command, and one whose writes can be lost: preloaded into a program under test.
 *
 * Only what concerns files below one folder is touched. Three things can be asked for, from within the process
 * (`faultfs_…` below, through ctypes) or by the environment, before it starts:
 *
 *   arm       the n-th call of a kind fails with an error number, that many times (-1: from then on, always);
 *             error 0 makes a write short instead: half of it is written and that is what is returned
 *   readonly  whatever would change a file fails with EROFS
 *   log       every change, and every flush, is written to a file, in order: `powercut.py` makes of it what a disk
 *             may hold after the power went
 *
 * Kinds: open read write fsync truncate unlink rename mmap lock stat chmod mkdir. Those beginning with p and f are the
 * same kind (pwrite: write, fdatasync: fsync). What is written through a memory map is not seen: SQLite uses that for
 * its `-shm` only, which is made anew after a crash.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KINDS = 12 };
static const char *const names[KINDS] = {"open", "read", "write", "fsync", "truncate", "unlink",
                                         "rename", "mmap", "lock", "stat", "chmod", "mkdir"};
enum kind { OPEN, READ, WRITE, FSYNC, TRUNCATE, UNLINK, RENAME, MMAP, LOCK, STAT, CHMOD, MKDIR };

static char folder[4096];
static int read_only, log_file = -1;
static long seen[KINDS], nth[KINDS], times[KINDS], hits;
static int errors[KINDS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* ── from within ─────────────────────────────────────────────────────────────────────────────────────────────── */

void faultfs_watch(const char *path) {
    snprintf(folder, sizeof folder, "%s", path);
}

void faultfs_disarm(void) {
    memset(seen, 0, sizeof seen);
    memset(nth, 0, sizeof nth);
    hits = 0;
}

int faultfs_arm(const char *name, long which, int error, long how_often) {
    for (int kind = 0; kind < KINDS; kind++)
        if (!strcmp(names[kind], name)) {
            seen[kind] = 0;
            nth[kind] = which;
            errors[kind] = error;
            times[kind] = how_often;
            return 0;
        }
    return -1;
}

long faultfs_hits(void) { return hits; }

long faultfs_seen(const char *name) {
    for (int kind = 0; kind < KINDS; kind++)
        if (!strcmp(names[kind], name)) return seen[kind];
    return -1;
}

void faultfs_readonly(int on) { read_only = on; }

/* ── in here ─────────────────────────────────────────────────────────────────────────────────────────────────── */

#define REAL(type, name, ...)                                              \
    static type (*real)(__VA_ARGS__);                                      \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static int below(const char *path) {
    size_t length = strlen(folder);
    if (!length) return 0;
    char whole[8192];
    if (path[0] != '/') { /* relative names are looked at from where the process stands */
        char here[4096];
        if (!getcwd(here, sizeof here)) return 0;
        snprintf(whole, sizeof whole, "%s/%s", here, path);
        path = whole;
    }
    return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

static int name_of(int file, char *path, size_t size) {
    char link[64];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, size - 1);
    errno = before;
    if (length < 0) return 0;
    path[length] = 0;
    return below(path);
}

/* Whether this call is to fail: -1 if not, otherwise with which error (0: short). */
static int fails(enum kind kind) {
    int error = -1;
    pthread_mutex_lock(&mutex);
    seen[kind]++;
    if (nth[kind] && seen[kind] >= nth[kind] && (times[kind] < 0 || seen[kind] < nth[kind] + times[kind])) {
        error = errors[kind];
        hits++;
    }
    pthread_mutex_unlock(&mutex);
    return error;
}

#define FAIL(kind, value)                  \
    do {                                   \
        int wrong = fails(kind);           \
        if (wrong > 0) {                   \
            errno = wrong;                 \
            return value;                  \
        }                                  \
    } while (0)

#define REFUSE(value)                      \
    do {                                   \
        if (read_only) {                   \
            errno = EROFS;                 \
            return value;                  \
        }                                  \
    } while (0)

static ssize_t plain_write(int file, const void *data, size_t size) {
    REAL(ssize_t, write, int, const void *, size_t);
    return real(file, data, size);
}

static void record(char what, const char *path, uint64_t at, const void *data, uint32_t size) {
    if (log_file < 0) return;
    int before = errno;
    uint32_t length = strlen(path);
    size_t total = 1 + 4 + 8 + 4 + length + size;
    char *entry = malloc(total), *to = entry;
    *to++ = what;
    memcpy(to, &length, 4), to += 4;
    memcpy(to, &at, 8), to += 8;
    memcpy(to, &size, 4), to += 4;
    memcpy(to, path, length), to += length;
    if (size) memcpy(to, data, size);
    if (plain_write(log_file, entry, total) != (ssize_t)total) abort(); /* a log with holes proves nothing */
    free(entry);
    errno = before;
}

void faultfs_note(const char *text) { record('N', "", 0, text, strlen(text)); }

int faultfs_log(const char *path) {
    REAL(int, open, const char *, int, ...);
    log_file = real(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return log_file < 0 ? -1 : 0;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAULTFS_FOLDER"), *log = getenv("FAULTFS_LOG"), *armed = getenv("FAULTFS_ARM");
    if (path) faultfs_watch(path);
    if (log) faultfs_log(log);
    read_only = getenv("FAULTFS_READONLY") != NULL;
    char name[32];
    long which, how_often;
    int error;
    if (armed && sscanf(armed, "%31s %ld %d %ld", name, &which, &error, &how_often) == 4)
        faultfs_arm(name, which, error, how_often);
}

/* ── opening ─────────────────────────────────────────────────────────────────────────────────────────────────── */

#define CHANGES(flags) (((flags) & O_ACCMODE) != O_RDONLY || ((flags) & (O_CREAT | O_TRUNC)))

static int opened(int file, const char *path, int flags, int there) {
    if (file < 0 || log_file < 0) return file;
    char whole[4096];
    if (!name_of(file, whole, sizeof whole)) return file;
    (void)path;
    if ((flags & O_CREAT) && !there) record('C', whole, 0, NULL, 0);
    if (flags & O_TRUNC) record('T', whole, 0, NULL, 0);
    return file;
}

#define OPEN_BODY(call)                                                    \
    if (!below(path)) return call;                                         \
    if (CHANGES(flags)) REFUSE(-1);                                        \
    FAIL(OPEN, -1);                                                        \
    int before = errno, there = !access(path, F_OK);                       \
    errno = before;                                                        \
    return opened(call, path, flags, there)

#define MODE                                                               \
    mode_t mode = 0;                                                       \
    if (flags & (O_CREAT | O_TMPFILE)) {                                   \
        va_list rest;                                                      \
        va_start(rest, flags);                                             \
        mode = va_arg(rest, mode_t);                                       \
        va_end(rest);                                                      \
    }

int open(const char *path, int flags, ...) {
    MODE;
    REAL(int, open, const char *, int, ...);
    OPEN_BODY(real(path, flags, mode));
}

int open64(const char *path, int flags, ...) {
    MODE;
    REAL(int, open64, const char *, int, ...);
    OPEN_BODY(real(path, flags, mode));
}

int openat(int at, const char *path, int flags, ...) {
    MODE;
    REAL(int, openat, int, const char *, int, ...);
    if (path[0] != '/' && at != AT_FDCWD) return real(at, path, flags, mode);
    OPEN_BODY(real(at, path, flags, mode));
}

int openat64(int at, const char *path, int flags, ...) {
    MODE;
    REAL(int, openat64, int, const char *, int, ...);
    if (path[0] != '/' && at != AT_FDCWD) return real(at, path, flags, mode);
    OPEN_BODY(real(at, path, flags, mode));
}

/* ── reading and writing ─────────────────────────────────────────────────────────────────────────────────────── */

ssize_t read(int file, void *data, size_t size) {
    REAL(ssize_t, read, int, void *, size_t);
    char path[4096];
    if (folder[0] && name_of(file, path, sizeof path)) FAIL(READ, -1);
    return real(file, data, size);
}

ssize_t pread(int file, void *data, size_t size, off_t at) {
    REAL(ssize_t, pread, int, void *, size_t, off_t);
    char path[4096];
    if (folder[0] && name_of(file, path, sizeof path)) FAIL(READ, -1);
    return real(file, data, size, at);
}

ssize_t pread64(int file, void *data, size_t size, off64_t at) {
    REAL(ssize_t, pread64, int, void *, size_t, off64_t);
    char path[4096];
    if (folder[0] && name_of(file, path, sizeof path)) FAIL(READ, -1);
    return real(file, data, size, at);
}

#define WRITE_BODY(call, position)                                         \
    char path[4096];                                                       \
    if (!folder[0] || !name_of(file, path, sizeof path)) return call;      \
    REFUSE(-1);                                                            \
    int wrong = fails(WRITE);                                              \
    if (wrong > 0) {                                                       \
        errno = wrong;                                                     \
        return -1;                                                         \
    }                                                                      \
    if (!wrong && size > 1) size /= 2;                                     \
    uint64_t where = log_file < 0 ? 0 : (uint64_t)(position);              \
    ssize_t written = call;                                                \
    if (written > 0) record('W', path, where, data, written);              \
    return written

static off_t end_or_here(int file) {
    struct stat found;
    if ((fcntl(file, F_GETFL) & O_APPEND) && !fstat(file, &found)) return found.st_size;
    return lseek(file, 0, SEEK_CUR);
}

ssize_t write(int file, const void *data, size_t size) {
    REAL(ssize_t, write, int, const void *, size_t);
    WRITE_BODY(real(file, data, size), end_or_here(file));
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at) {
    REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
    WRITE_BODY(real(file, data, size, at), at);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    WRITE_BODY(real(file, data, size, at), at);
}

/* ── flushing ────────────────────────────────────────────────────────────────────────────────────────────────── */

#define SYNC_BODY                                                          \
    char path[4096];                                                       \
    if (!folder[0] || !name_of(file, path, sizeof path)) return real(file); \
    FAIL(FSYNC, -1);                                                       \
    int done = real(file);                                                 \
    if (!done) record('S', path, 0, NULL, 0);                              \
    return done

int fsync(int file) {
    REAL(int, fsync, int);
    SYNC_BODY;
}

int fdatasync(int file) {
    REAL(int, fdatasync, int);
    SYNC_BODY;
}

/* ── the rest ────────────────────────────────────────────────────────────────────────────────────────────────── */

#define TRUNCATE_BODY                                                      \
    char path[4096];                                                       \
    if (!folder[0] || !name_of(file, path, sizeof path)) return real(file, size); \
    REFUSE(-1);                                                            \
    FAIL(TRUNCATE, -1);                                                    \
    int done = real(file, size);                                           \
    if (!done) record('T', path, size, NULL, 0);                           \
    return done

int ftruncate(int file, off_t size) {
    REAL(int, ftruncate, int, off_t);
    TRUNCATE_BODY;
}

int ftruncate64(int file, off64_t size) {
    REAL(int, ftruncate64, int, off64_t);
    TRUNCATE_BODY;
}

int unlink(const char *path) {
    REAL(int, unlink, const char *);
    if (!below(path)) return real(path);
    REFUSE(-1);
    FAIL(UNLINK, -1);
    int done = real(path);
    if (!done) record('U', path, 0, NULL, 0);
    return done;
}

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    if (!below(from) && !below(to)) return real(from, to);
    REFUSE(-1);
    FAIL(RENAME, -1);
    int done = real(from, to);
    if (!done) record('R', from, 0, to, strlen(to));
    return done;
}

int link(const char *from, const char *to) {
    REAL(int, link, const char *, const char *);
    if (!below(from) && !below(to)) return real(from, to);
    REFUSE(-1);
    FAIL(RENAME, -1);
    int done = real(from, to);
    if (!done) record('L', from, 0, to, strlen(to));
    return done;
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, mkdir, const char *, mode_t);
    if (!below(path)) return real(path, mode);
    REFUSE(-1);
    FAIL(MKDIR, -1);
    int done = real(path, mode);
    if (!done) record('M', path, 0, NULL, 0);
    return done;
}

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t from) {
    REAL(void *, mmap, void *, size_t, int, int, int, off_t);
    char path[4096];
    if (folder[0] && file >= 0 && name_of(file, path, sizeof path)) FAIL(MMAP, MAP_FAILED);
    return real(at, size, protection, flags, file, from);
}

void *mmap64(void *at, size_t size, int protection, int flags, int file, off64_t from) {
    REAL(void *, mmap64, void *, size_t, int, int, int, off64_t);
    char path[4096];
    if (folder[0] && file >= 0 && name_of(file, path, sizeof path)) FAIL(MMAP, MAP_FAILED);
    return real(at, size, protection, flags, file, from);
}

int flock(int file, int how) {
    REAL(int, flock, int, int);
    char path[4096];
    if (folder[0] && how != LOCK_UN && name_of(file, path, sizeof path)) FAIL(LOCK, -1);
    return real(file, how);
}

#define FCNTL_BODY                                                         \
    va_list rest;                                                          \
    va_start(rest, command);                                               \
    void *given = va_arg(rest, void *);                                    \
    va_end(rest);                                                          \
    if (folder[0] && (command == F_SETLK || command == F_SETLKW) &&        \
        ((struct flock *)given)->l_type != F_UNLCK) {                      \
        char path[4096];                                                   \
        if (name_of(file, path, sizeof path)) FAIL(LOCK, -1);              \
    }                                                                      \
    return real(file, command, given)

int fcntl(int file, int command, ...) {
    REAL(int, fcntl, int, int, ...);
    FCNTL_BODY;
}

int fcntl64(int file, int command, ...) {
    REAL(int, fcntl64, int, int, ...);
    FCNTL_BODY;
}

#define STAT_BODY(name, type)                                              \
    REAL(int, name, const char *, struct type *);                          \
    if (folder[0] && below(path)) FAIL(STAT, -1);                          \
    return real(path, found)

int stat(const char *path, struct stat *found) { STAT_BODY(stat, stat); }
int stat64(const char *path, struct stat64 *found) { STAT_BODY(stat64, stat64); }

#define FSTAT_BODY(name, type)                                             \
    REAL(int, name, int, struct type *);                                   \
    char path[4096];                                                       \
    if (folder[0] && name_of(file, path, sizeof path)) FAIL(STAT, -1);     \
    return real(file, found)

int fstat(int file, struct stat *found) { FSTAT_BODY(fstat, stat); }
int fstat64(int file, struct stat64 *found) { FSTAT_BODY(fstat64, stat64); }

int fchmod(int file, mode_t mode) {
    REAL(int, fchmod, int, mode_t);
    char path[4096];
    if (folder[0] && name_of(file, path, sizeof path)) {
        REFUSE(-1);
        FAIL(CHMOD, -1);
    }
    return real(file, mode);
}

int chmod(const char *path, mode_t mode) {
    REAL(int, chmod, const char *, mode_t);
    if (below(path)) {
        REFUSE(-1);
        FAIL(CHMOD, -1);
    }
    return real(path, mode);
}
