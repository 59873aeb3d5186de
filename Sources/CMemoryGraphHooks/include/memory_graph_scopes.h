// memory_graph_scopes.h: which blocks were born in a check, for the library that checks tests.
//
// A *scope* is a part of a program's work: a task and all tasks that it starts, whatever threads they run
// on. While scopes are open each block is born in one of them or in none, and each scope knows its
// blocks that are still alive. Not for programs; they call what memory_graph.h has.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma clang assume_nonnull begin

/// A block that was born in a scope and is alive.
typedef struct memory_graph_survivor {
  uint64_t address;
  uint32_t bytes;     // as they were asked for; 128 MiB stands for all that is larger
  uint32_t stack;     // the same for blocks that were asked for from the same stack in this scope
  bool is_registered; // the program gave it a name or declared it a resource
} memory_graph_survivor;

/// What tells the scope of a caller: functions of Swift's runtime, and a task-local value of type UInt64
/// that is a scope, or 0.
typedef struct memory_graph_task_functions {
  void *_Nullable (*_Nonnull current_task)(void);                 // swift_task_getCurrent
  const void *_Nullable (*_Nonnull local_value)(const void *key); // swift_task_localValueGet
  const void *key;
} memory_graph_task_functions;

/// Starts recording, and tells how scopes are found. 0 or an errno; ENOTSUP: memory_graph_problem()
/// says why.
int memory_graph_scopes_start(memory_graph_task_functions functions);

/// Opens a scope. 0: there is no memory for it, or too many are open.
///
/// `takes_strays`: blocks that are born in no scope are born in this one, as long as it is open. That holds
/// for one scope at a time.
uint64_t memory_graph_scope_open(bool takes_strays);

/// From here on blocks that are born in no scope are born in this one, or, where `takes` is false, not any
/// more.
void memory_graph_scope_take_strays(uint64_t scope, bool takes);

/// Writes down the blocks that are alive, ascending by address, `room` of them at most. The number of
/// all.
///
/// O(blocks that the scope had alive at once, log of it).
size_t memory_graph_scope_survivors(uint64_t scope, memory_graph_survivor *_Nullable blocks,
                                    size_t room);

/// Overwrites the stack below the caller's frame, 128 KB of it, so that what is called next finds no old words.
void memory_graph_clear_dead_stack(void);

/// Writes down the return addresses of a survivor's stack, the innermost first, `room` of them at most. The
/// number of all; 0 where the stack is unknown.
size_t memory_graph_stack_frames(uint32_t stack, uint64_t *frames, size_t room);

/// The path of the library that an address lies in, empty for the executable; NULL where there is none. The
/// text stays as long as the library is loaded.
///
/// O(libraries).
const char *_Nullable memory_graph_image(uint64_t address);

/// From here on blocks that the calling thread asks for are in no scope and have no stack, until the same
/// was said with `false`; calls nest. Whoever looks at scopes does not want to find what it
/// makes of its own meanwhile, and is not to be slowed down by it. The blocks are recorded all the same: what hangs
/// on them is held.
void memory_graph_thread_quiet(bool is_quiet);

/// How many births could not be recorded, since a table was full.
uint64_t memory_graph_scope_lost(uint64_t scope);

/// Copies memory of this process through the kernel: false where it can't be read, and no fault. Whoever
/// looks into a block that another thread may free needs it.
bool memory_graph_copy(uint64_t address, void *to, size_t bytes);

/// Ends a scope: it is no longer known. Tasks of it that are still there have none.
void memory_graph_scope_close(uint64_t scope);

#pragma clang assume_nonnull end

#ifdef __cplusplus
}
#endif
