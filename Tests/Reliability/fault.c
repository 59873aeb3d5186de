// A library to preload into a reader: it has one system call fail, or the process killed at it.
//
//     FAULT=CALL:NUMBER:kill            FAULT=CALL:NUMBER:ERRNO
//     FAULT_ONCE=FILE                   only where this file is there, which is removed by it
//
// The NUMBERth call of the function, counted from 1, is the one. `scripts/reliability` goes through them all.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// Whether this call is to fail, with which errno; does not return where it is to be the last.
static int is_due(const char *call) {
  static __thread int is_busy;
  static int count;
  const char *fault = getenv("FAULT"), *once = getenv("FAULT_ONCE");
  size_t bytes = strlen(call);
  if (is_busy || !fault || strncmp(fault, call, bytes) != 0 || fault[bytes] != ':')
    return 0;
  char *rest;
  long number = strtol(fault + bytes + 1, &rest, 10);
  if (__atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST) != number || *rest != ':')
    return 0;
  is_busy = 1;
  int is_to_be = !once || unlink(once) == 0;
  is_busy = 0;
  if (!is_to_be)
    return 0;
  if (strcmp(rest + 1, "kill") == 0)
    raise(SIGKILL);
  return atoi(rest + 1);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL_WHERE_DUE(call, result)                                                               \
  do {                                                                                             \
    int error = is_due(call);                                                                      \
    if (error) {                                                                                   \
      errno = error;                                                                               \
      return (result);                                                                             \
    }                                                                                              \
  } while (0)

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  unsigned mode = va_arg(list, unsigned);
  va_end(list);
  FAIL_WHERE_DUE((flags & O_ACCMODE) != O_RDONLY ? "create" : "open", -1);
  return NEXT(open)(path, flags, mode);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  FAIL_WHERE_DUE("pwrite", -1);
  return NEXT(pwrite)(file, bytes, count, offset);
}

int posix_fallocate(int file, off_t offset, off_t count) {
  int error = is_due("fallocate");
  return error ? error : NEXT(posix_fallocate)(file, offset, count);
}

int fsync(int file) {
  FAIL_WHERE_DUE("fsync", -1);
  return NEXT(fsync)(file);
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
  FAIL_WHERE_DUE("linkat", -1);
  return NEXT(linkat)(from, old, to, new, flags);
}

int rename(const char *old, const char *new) {
  FAIL_WHERE_DUE("rename", -1);
  return NEXT(rename)(old, new);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long local_count,
                         const struct iovec *remote, unsigned long remote_count,
                         unsigned long flags) {
  FAIL_WHERE_DUE("read", -1);
  return NEXT(process_vm_readv)(pid, local, local_count, remote, remote_count, flags);
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
  FAIL_WHERE_DUE("receive", -1);
  return NEXT(recvmsg)(socket, message, flags);
}

ssize_t send(int socket, const void *bytes, size_t count, int flags) {
  FAIL_WHERE_DUE("send", -1);
  return NEXT(send)(socket, bytes, count, flags);
}
