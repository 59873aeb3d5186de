// process_memory.h: calls of Linux that Glibc's Swift module does not show.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Copies bytes from another process with process_vm_readv.
///
/// Returns the number of bytes copied, or -1 with errno set.
ssize_t mg_read_process(pid_t pid, uint64_t address, void *buffer, size_t count);

/// Receives bytes from a socket, with the descriptor that came with them; -1 where none did.
///
/// Returns as recvmsg does.
ssize_t mg_receive_descriptor(int socket, void *buffer, size_t count, int *descriptor);

/// Receives one message from a socket into two places, one after the other. `pid` is the sending
/// process's number as this process sees it; 0 where it sees none, or the socket has no SO_PASSCRED.
///
/// Returns as recvmsg does.
ssize_t mg_receive_message(int socket, void *head, size_t head_count, void *rest, size_t rest_count,
                           pid_t *pid);

/// Has large blocks go back to the kernel when they are freed, for the rest of the process. By itself the
/// allocator keeps for later what is as large as something that was freed before.
void mg_return_large_blocks(void);

/// Has messages that a socket receives say who sent them, or no longer. Returns as setsockopt does.
int mg_wants_sender(int socket, int wants);
