/* Makes the k-th call of one kind fail, loaded with LD_PRELOAD.
 *
 * FAIL_CALL   open, write, read, rename, sync, close, mkdir, link or unlink; `any`: all but read
 * FAIL_AT     which call of that kind, from 1
 * FAIL_ERRNO  errno of the failure
 * FAIL_SIGNAL instead of a failure, the process gets this signal before the call
 * FAIL_MARK   file that is made when the failure has happened
 *
 * Only files count: `open` for writing or creating, `write`, `read` and `close` of regular files
 * other than standard input, output and error. A failing close has closed, as on Linux; that of an
 * empty file loses nothing and does not count. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;

static int fails(const char *call) {
  const char *wanted = getenv("FAIL_CALL");
  if (wanted == NULL) return 0;
  const int any = strcmp(wanted, "any") == 0 && strcmp(call, "read") != 0;
  if (!any && strcmp(wanted, call) != 0) return 0;
  const char *at = getenv("FAIL_AT");
  if (atomic_fetch_add(&calls, 1) + 1 != (at == NULL ? 0 : atoi(at))) return 0;
  const char *mark = getenv("FAIL_MARK");
  if (mark != NULL) {
    const long made = syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (made >= 0) syscall(SYS_close, made);
  }
  const char *signal_number = getenv("FAIL_SIGNAL");
  if (signal_number != NULL) {
    kill(getpid(), atoi(signal_number));
    return 0;
  }
  const char *code = getenv("FAIL_ERRNO");
  errno = code == NULL ? EIO : atoi(code);
  return 1;
}

static int regular(int fd) {
  struct stat status;
  return fd > 2 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/* True when something may have been written there that a failing close loses. */
static int may_lose(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  struct stat info;
  return regular(fd) && flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &info) == 0 &&
         info.st_size != 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define FAIL_OPEN(flags)                                                    \
  if (((flags) & O_CREAT) != 0 || ((flags) & O_ACCMODE) != O_RDONLY) {      \
    if (((flags) & O_DIRECTORY) == 0 && fails("open")) return -1;           \
  }
#define MODE(flags)                                                         \
  mode_t mode = 0;                                                          \
  if (((flags) & (O_CREAT | O_TMPFILE)) != 0) {                             \
    va_list rest;                                                           \
    va_start(rest, flags);                                                  \
    mode = va_arg(rest, mode_t);                                            \
    va_end(rest);                                                           \
  }

int open(const char *path, int flags, ...) {
  MODE(flags)
  FAIL_OPEN(flags)
  return REAL(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE(flags)
  FAIL_OPEN(flags)
  return REAL(open64)(path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
  MODE(flags)
  FAIL_OPEN(flags)
  return REAL(openat)(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
  MODE(flags)
  FAIL_OPEN(flags)
  return REAL(openat64)(at, path, flags, mode);
}
int __open_2(const char *path, int flags) {
  FAIL_OPEN(flags)
  return REAL(open)(path, flags);
}
int __open64_2(const char *path, int flags) {
  FAIL_OPEN(flags)
  return REAL(open64)(path, flags);
}
ssize_t write(int fd, const void *bytes, size_t count) {
  if (regular(fd) && fails("write")) return -1;
  return REAL(write)(fd, bytes, count);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  if (regular(fd) && fails("write")) return -1;
  return REAL(pwrite)(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  if (regular(fd) && fails("write")) return -1;
  return REAL(pwrite64)(fd, bytes, count, at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (regular(fd) && fails("write")) return -1;
  return REAL(writev)(fd, parts, count);
}
ssize_t read(int fd, void *bytes, size_t count) {
  if (regular(fd) && fails("read")) return -1;
  return REAL(read)(fd, bytes, count);
}
int close(int fd) {
  const int counts = may_lose(fd);
  const int result = REAL(close)(fd);
  if (counts && fails("close")) return -1;
  return result;
}
int fsync(int fd) { return fails("sync") ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return fails("sync") ? -1 : REAL(fdatasync)(fd); }
int rename(const char *from, const char *to) {
  return fails("rename") ? -1 : REAL(rename)(from, to);
}
int renameat(int from_at, const char *from, int to_at, const char *to) {
  return fails("rename") ? -1 : REAL(renameat)(from_at, from, to_at, to);
}
int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  return fails("rename") ? -1 : REAL(renameat2)(from_at, from, to_at, to, flags);
}
int mkdir(const char *path, mode_t mode) { return fails("mkdir") ? -1 : REAL(mkdir)(path, mode); }
int mkdirat(int at, const char *path, mode_t mode) {
  return fails("mkdir") ? -1 : REAL(mkdirat)(at, path, mode);
}
int link(const char *from, const char *to) { return fails("link") ? -1 : REAL(link)(from, to); }
int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
  return fails("link") ? -1 : REAL(linkat)(from_at, from, to_at, to, flags);
}
int unlink(const char *path) { return fails("unlink") ? -1 : REAL(unlink)(path); }
int unlinkat(int at, const char *path, int flags) {
  return fails("unlink") ? -1 : REAL(unlinkat)(at, path, flags);
}
