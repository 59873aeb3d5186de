// process_memory.h: calls of Linux that Glibc's Swift module does not show.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Copies bytes from another process with process_vm_readv.
///
/// Returns the number of bytes copied, or -1 with errno set.
ssize_t mg_read_process(pid_t pid, uint64_t address, void *buffer, size_t count);
