// large_stack.h: a thread with room for deep calls.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// The bytes of the calling thread's stack; SIZE_MAX where that can't be told.
size_t mg_own_stack_size(void);

/// Calls a function on a thread with a stack of its own, and waits for its end.
///
/// The thread has the signal mask of the caller, which takes no signal meanwhile: what is sent to the process is the
/// thread's.
///
/// Returns false where there is no thread to be had; the function has not been called then.
bool mg_call_on_stack(size_t bytes, void (*body)(void *context), void *context);
