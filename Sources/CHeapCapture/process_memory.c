#define _GNU_SOURCE
#include "process_memory.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

ssize_t mg_read_process(pid_t pid, uint64_t address, void *buffer, size_t count) {
  struct iovec local = {buffer, count};
  struct iovec remote = {(void *)(uintptr_t)address, count};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

void mg_return_large_blocks(void) {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
}

/// Receives a message whose control part has room for one descriptor and one sender.
static ssize_t receive(int socket, struct iovec *parts, size_t part_count, int *descriptor,
                       pid_t *pid) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
  } control;
  struct msghdr message;
  ssize_t count;
  do {
    message = (struct msghdr){.msg_iov = parts,
                              .msg_iovlen = part_count,
                              .msg_control = &control,
                              .msg_controllen = sizeof control};
    count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  *descriptor = -1;
  *pid = 0;
  if (count < 0)
    return count;
  for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET)
      continue;
    if (item->cmsg_type == SCM_RIGHTS)
      memcpy(descriptor, CMSG_DATA(item), sizeof *descriptor);
    if (item->cmsg_type == SCM_CREDENTIALS) {
      struct ucred sender;
      memcpy(&sender, CMSG_DATA(item), sizeof sender);
      *pid = sender.pid;
    }
  }
  return count;
}

ssize_t mg_receive_descriptor(int socket, void *buffer, size_t count, int *descriptor) {
  struct iovec part = {buffer, count};
  pid_t pid;
  return receive(socket, &part, 1, descriptor, &pid);
}

ssize_t mg_receive_message(int socket, void *head, size_t head_count, void *rest, size_t rest_count,
                           pid_t *pid) {
  struct iovec parts[2] = {{head, head_count}, {rest, rest_count}};
  int descriptor;
  return receive(socket, parts, 2, &descriptor, pid);
}

int mg_wants_sender(int socket, int wants) {
  return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &wants, sizeof wants);
}
