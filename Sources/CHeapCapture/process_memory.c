#define _GNU_SOURCE
#include "process_memory.h"

#include <sys/uio.h>

ssize_t mg_read_process(pid_t pid, uint64_t address, void *buffer, size_t count) {
  struct iovec local = {buffer, count};
  struct iovec remote = {(void *)(uintptr_t)address, count};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}
