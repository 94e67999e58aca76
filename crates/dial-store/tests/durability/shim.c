/* A disk that fails when told to, preloaded before the C library.
 *
 * Only files of one folder are concerned (DIAL_SHIM_FOLDER). What it can do:
 *
 *   DIAL_SHIM_SYNCED=folder   keeps a copy of every file as it was last synced, so that the test can put back what a power
 *                             cut would have left. A file that was unlinked is gone from there once its folder is synced.
 *   DIAL_SHIM_FAIL=n          the n-th write, sync or truncation fails with DIAL_SHIM_ERROR (EIO, ENOSPC; SHORT writes
 *                             half); with DIAL_SHIM_LASTING=1 all later ones fail too.
 *
 * Every failing call is reported on standard error as "shim: CALL n". No sync reaches the real disk: the copies stand for it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static long calls;

static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* The name of an open file inside the folder ("" for the folder itself), or NULL. */
static const char *inside(int fd, char path[PATH_MAX]) {
    const char *folder = setting("DIAL_SHIM_FOLDER");
    char link[64];
    if (!folder || fd <= 2) return NULL;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return NULL;
    path[length] = 0;
    size_t prefix = strlen(folder);
    if (strncmp(path, folder, prefix)) return NULL;
    if (path[prefix] == 0) return path + prefix;
    return path[prefix] == '/' ? path + prefix + 1 : NULL;
}

/* Whether this call is one that fails; 2 if it only stops half-way. */
static int fails(int fd, const char *call) {
    char path[PATH_MAX];
    const char *at = setting("DIAL_SHIM_FAIL"), *error = setting("DIAL_SHIM_ERROR");
    if (!at || !error || !inside(fd, path)) return 0;
    pthread_mutex_lock(&one);
    long number = ++calls, wanted = atol(at);
    pthread_mutex_unlock(&one);
    int lasting = setting("DIAL_SHIM_LASTING") != NULL;
    if (number != wanted && !(lasting && number > wanted)) return 0;
    int half = !strcmp(error, "SHORT");
    if (half && strcmp(call, "write")) return 0;
    char text[64];
    int length = snprintf(text, sizeof text, "shim: %s %ld\n", call, number);
    syscall(SYS_write, 2, text, (size_t)length);
    errno = !strcmp(error, "ENOSPC") ? ENOSPC : EIO;
    return half ? 2 : 1;
}

/* Copies the file of a descriptor to where synced files are kept, whole or not at all. */
static void keep(int fd) {
    char path[PATH_MAX], part[PATH_MAX + 16], whole[PATH_MAX];
    const char *synced = setting("DIAL_SHIM_SYNCED"), *name = inside(fd, path);
    if (!synced || !name) return;
    if (!*name) { /* the folder: what was unlinked is gone for good now */
        DIR *all = opendir(synced);
        for (struct dirent *entry; all && (entry = readdir(all));) {
            char here[PATH_MAX + 300], there[PATH_MAX];
            snprintf(here, sizeof here, "%s/%s", path, entry->d_name);
            snprintf(there, sizeof there, "%s/%s", synced, entry->d_name);
            if (entry->d_name[0] != '.' && access(here, F_OK)) unlink(there);
        }
        if (all) closedir(all);
        return;
    }
    snprintf(whole, sizeof whole, "%s/%s", synced, name);
    snprintf(part, sizeof part, "%s/.part", synced);
    int to = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char bytes[1 << 16];
    ssize_t count = 0;
    /* Read through the descriptor itself: to open and close the file again would drop the locks that SQLite has on it. */
    for (off64_t at = 0; to >= 0 && (count = pread64(fd, bytes, sizeof bytes, at)) > 0; at += count)
        if (syscall(SYS_write, to, bytes, (size_t)count) != count) abort();
    if (to < 0 || count < 0 || close(to) || rename(part, whole)) abort();
}

static int synced(int fd, const char *call) {
    if (fails(fd, call)) return -1;
    keep(fd);
    return 0;
}

int fsync(int fd) { return synced(fd, "sync"); }
int fdatasync(int fd) { return synced(fd, "sync"); }

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
