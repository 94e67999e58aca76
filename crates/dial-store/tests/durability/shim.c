/* A disk that fails, or loses its power, when told to: preloaded before the C library.
 *
 * Only what lies in one folder is concerned (DIAL_SHIM_FOLDER). What it can do:
 *
 *   DIAL_SHIM_SYNCED=folder   keeps what is safe from a power cut. A file or folder is known by KEY, its inode and time of
 *                             birth, whatever its name. Syncing a file keeps its bytes in KEY.file; syncing a folder keeps
 *                             its names in KEY.folder: for each entry its key, f or d, its name, and a zero byte.
 *   DIAL_SHIM_SKIP=n          the n-th sync keeps nothing, and says that all is well.
 *   DIAL_SHIM_TRACE=file      gets a line for every call: "sync 3 p.dial/project.db-wal".
 *   DIAL_SHIM_DIE=n           the process is killed before the n-th call.
 *   DIAL_SHIM_FAIL=n          the n-th write, sync, truncation or renaming fails with DIAL_SHIM_ERROR (EIO, ENOSPC; SHORT
 *                             writes half; DIE ends the process before the call); with DIAL_SHIM_LASTING=1 all later ones
 *                             fail too. With DIAL_SHIM_UNLINK=file nothing fails, and that file is deleted before the call.
 *   DIAL_SHIM_NO_EXCHANGE=1   two names cannot be exchanged in one step, as on file systems that have none.
 *
 * Every failing call is reported on standard error as "shim: CALL n". No sync reaches the real disk: what is kept stands
 * for it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
/* Calls that change something, those of them that may fail, and syncs. */
static long all, failing, syncs;

static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static long number(const char *name) {
    const char *value = setting(name);
    return value ? atol(value) : 0;
}

/* A path relative to the folder ("" for the folder itself), or NULL if it lies elsewhere. */
static const char *below(const char *path) {
    const char *folder = setting("DIAL_SHIM_FOLDER");
    size_t prefix = folder ? strlen(folder) : 0;
    if (!folder || strncmp(path, folder, prefix)) return NULL;
    if (path[prefix] == 0) return path + prefix;
    return path[prefix] == '/' ? path + prefix + 1 : NULL;
}

/* The same of an open file. */
static const char *inside(int fd, char path[PATH_MAX]) {
    char link[64];
    if (fd <= 2 || !setting("DIAL_SHIM_FOLDER")) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return NULL;
    path[length] = 0;
    return below(path);
}

static void put(int fd, const char *bytes, size_t count) {
    if (fd < 0 || syscall(SYS_write, fd, bytes, count) != (ssize_t)count) abort();
}

/* Counts a call inside the folder, says it, and ends the process where it is to die. */
static void count(const char *call, const char *name) {
    pthread_mutex_lock(&one);
    long at = ++all;
    const char *trace = setting("DIAL_SHIM_TRACE");
    if (trace) {
        char line[PATH_MAX + 64];
        int length = snprintf(line, sizeof line, "%s %ld %s\n", call, at, *name ? name : ".");
        int to = open(trace, O_WRONLY | O_CREAT | O_APPEND, 0600);
        put(to, line, (size_t)length);
        close(to);
    }
    if (at == number("DIAL_SHIM_DIE")) kill(getpid(), SIGKILL);
    pthread_mutex_unlock(&one);
}

/* Whether this call, of a file that is concerned, is one that fails; 2 if it only stops half-way. */
static int is_met(const char *call) {
    const char *error = setting("DIAL_SHIM_ERROR"), *victim = setting("DIAL_SHIM_UNLINK");
    long wanted = number("DIAL_SHIM_FAIL");
    if (!wanted || !(error || victim)) return 0;
    pthread_mutex_lock(&one);
    long at = ++failing;
    pthread_mutex_unlock(&one);
    int lasting = setting("DIAL_SHIM_LASTING") != NULL;
    if (at != wanted && !(lasting && at > wanted)) return 0;
    if (victim) {
        syscall(SYS_unlinkat, AT_FDCWD, victim, 0);
        return 0;
    }
    if (!strcmp(error, "DIE")) _exit(137);
    int half = !strcmp(error, "SHORT");
    if (half && strcmp(call, "write")) return 0;
    char text[64];
    int length = snprintf(text, sizeof text, "shim: %s %ld\n", call, at);
    syscall(SYS_write, 2, text, (size_t)length);
    errno = !strcmp(error, "ENOSPC") ? ENOSPC : EIO;
    return half ? 2 : 1;
}

static int fails(int fd, const char *call) {
    char path[PATH_MAX];
    const char *name = inside(fd, path);
    if (!name) return 0;
    count(call, name);
    return is_met(call);
}

/* The key of a file or folder, and whether it is a folder. */
static int key(int at, const char *name, char text[64]) {
    struct statx found;
    int flags = *name ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;
    if (statx(at, name, flags, STATX_INO | STATX_BTIME | STATX_TYPE, &found)) abort();
    int born = found.stx_mask & STATX_BTIME;
    snprintf(text, 64, "%llu-%lld.%u", (unsigned long long)found.stx_ino,
             born ? (long long)found.stx_btime.tv_sec : 0, born ? found.stx_btime.tv_nsec : 0);
    return S_ISDIR(found.stx_mode);
}

static void keep_names(int fd, int to) {
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY);
    DIR *entries = again < 0 ? NULL : fdopendir(again);
    if (!entries) abort();
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        char child[64], line[512];
        int folder = key(fd, entry->d_name, child);
        int length = snprintf(line, sizeof line, "%s %c %s", child, folder ? 'd' : 'f', entry->d_name);
        put(to, line, (size_t)length + 1);
    }
    closedir(entries);
}

/* Reads through the descriptor itself: to open and close the file again would drop the locks that SQLite has on it. A
 * descriptor that can only be written to is not SQLite's. */
static void keep_bytes(int fd, int to) {
    char bytes[1 << 16], link[64];
    ssize_t count;
    int again = -1;
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        fd = again = open(link, O_RDONLY);
    }
    for (off64_t at = 0; (count = pread64(fd, bytes, sizeof bytes, at)) > 0; at += count) put(to, bytes, (size_t)count);
    if (count < 0) abort();
    if (again >= 0) close(again);
}

/* Keeps what an open file or folder holds, whole or not at all. */
static void keep(int fd) {
    char path[PATH_MAX], name[64], part[PATH_MAX], whole[PATH_MAX];
    const char *synced = setting("DIAL_SHIM_SYNCED");
    if (!synced || !inside(fd, path)) return;
    pthread_mutex_lock(&one);
    long at = ++syncs;
    if (at != number("DIAL_SHIM_SKIP")) {
        int folder = key(fd, "", name);
        snprintf(whole, sizeof whole, "%s/%s.%s", synced, name, folder ? "folder" : "file");
        snprintf(part, sizeof part, "%s/part", synced);
        int to = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (folder) keep_names(fd, to);
        else keep_bytes(fd, to);
        if (close(to) || syscall(SYS_renameat2, AT_FDCWD, part, AT_FDCWD, whole, 0)) abort();
    }
    pthread_mutex_unlock(&one);
}

static int synced(int fd) {
    if (fails(fd, "sync")) return -1;
    keep(fd);
    return 0;
}

int fsync(int fd) { return synced(fd); }
int fdatasync(int fd) { return synced(fd); }

ssize_t write(int fd, const void *bytes, size_t count) {
    int how = fails(fd, "write");
    if (how == 1) return -1;
    return syscall(SYS_write, fd, bytes, how == 2 && count > 1 ? count / 2 : count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
    int how = fails(fd, "write");
    if (how == 1) return -1;
    return syscall(SYS_pwrite64, fd, bytes, how == 2 && count > 1 ? count / 2 : count, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return pwrite64(fd, bytes, count, at); }

int ftruncate64(int fd, off64_t length) {
    if (fails(fd, "truncate")) return -1;
    return (int)syscall(SYS_ftruncate, fd, length);
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

/* Names change at once, and are safe once their folder is synced; these calls are moments to die at. Whether the path is
 * one that is concerned. */
static int named(const char *call, const char *path) {
    char whole[PATH_MAX];
    const char *name = *path == '/' ? path : realpath(path, whole);
    if (!name || !(name = below(name))) return 0;
    count(call, name);
    return 1;
}

int rename(const char *from, const char *to) {
    if (named("rename", from) && is_met("rename")) return -1;
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path) {
    named("unlink", path);
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode) {
    named("mkdir", path);
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

/* The exchange is a call of the system that passes no function of the C library: the system itself refuses it. */
__attribute__((constructor)) static void no_exchange(void) {
    if (!setting("DIAL_SHIM_NO_EXCHANGE")) return;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
        /* The flags, of which 2 is RENAME_EXCHANGE; of the 64 bits the lower half, which comes first here. */
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) abort();
}
