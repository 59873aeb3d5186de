// tracing.h: stopping the threads of another process, and their registers. All calls for one process
// must come from one thread.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// The registers of a stopped thread.
typedef struct mg_thread_registers {
  uint64_t general[16]; // rax rbx rcx rdx rsi rdi rbp rsp r8 ... r15
  uint64_t pc;
  uint64_t thread_pointer;
} mg_thread_registers;

/// Begins to trace a thread without stopping it. Returns 0 or an errno.
int mg_trace_seize(pid_t thread);

/// Asks a traced thread to stop. Returns 0 or an errno.
int mg_trace_interrupt(pid_t thread);

/// Waits until a traced thread has stopped, without blocking.
///
/// Returns 1 where it has, 0 where it has not yet, -1 where it has ended. `signal` is the signal that it
/// was about to receive and that `mg_trace_detach` has to hand on, 0 for none. `is_group_stop` says
/// whether the thread had been stopped by a signal before.
int mg_trace_has_stopped(pid_t thread, int *signal, int *is_group_stop);

/// Reads the registers of a stopped thread. Returns 0 or an errno.
int mg_trace_registers(pid_t thread, mg_thread_registers *registers);

/// Reads the vector registers of a stopped thread as XSAVE lays them out, as many bytes as there is room for.
/// `bytes` says how many there are. Returns 0 or an errno.
int mg_trace_vectors(pid_t thread, void *room, size_t *bytes);

/// Lets a stopped thread go on, with a signal or 0. Returns 0 or an errno.
int mg_trace_detach(pid_t thread, int signal);
