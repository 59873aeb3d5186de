// memory_graph.h: what a C or C++ program, or one that looks the names up with dlsym, calls.
//
// Every function returns 0 or an errno value, may be called from any thread except inside a signal
// handler, and never keeps alive what it is told of. With the agent neither linked nor preloaded the
// names do not exist: dlsym(NULL, "memory_graph_mark") is then NULL.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma clang assume_nonnull begin

#define MG_PUBLIC __attribute__((visibility("default"), used))

/// Starts automatic discovery: from here on every block of the malloc family has a cell with its
/// size, its generation and its stack. Does nothing where it was started already.
///
/// ENOTSUP: the allocator's functions can't be interposed; memory_graph_problem() says why.
MG_PUBLIC int memory_graph_start(void);

/// Ends a generation: objects born before are told apart from those born after. Takes a snapshot too
/// where a folder is set (MEMORY_GRAPH_OUT, or `memgraph run`), named after the mark; the calling
/// thread waits until it is written, the others stop only for the copy of the process.
MG_PUBLIC int memory_graph_mark(const char *name);

/// Writes a snapshot to a path. EEXIST is not an error: the file is replaced when the new one is
/// whole.
MG_PUBLIC int memory_graph_snapshot(const char *path);

/// Gives an object or block a name of its own, or makes one known that automatic discovery can't
/// see. The registration ends when the block is freed.
MG_PUBLIC int memory_graph_register(const void *object, const char *name);

/// Makes a resource outside the Swift heap a node: a C handle with its buffers, a texture, a file.
/// `bytes` is what it costs, a malloc block its own size at least. It stays until it is unregistered or,
/// where the pointer is a malloc block, until that is freed.
MG_PUBLIC int memory_graph_register_resource(const void *resource, const char *type, size_t bytes);

/// Ends a registration and removes the declared edges from and to it. ENOENT: it is not registered.
MG_PUBLIC int memory_graph_unregister(const void *registered);

/// Declares that one registered or discovered thing holds another. The same edge can be added more
/// than once; each has to be removed.
MG_PUBLIC int memory_graph_add_strong_edge(const void *from, const void *to, const char *label);

/// Removes an edge that was declared. ENOENT: there is none such.
MG_PUBLIC int memory_graph_remove_strong_edge(const void *from, const void *to, const char *label);

/// Why the agent can't work, in a sentence; NULL where it can.
MG_PUBLIC const char *_Nullable memory_graph_problem(void);

#pragma clang assume_nonnull end

#ifdef __cplusplus
}
#endif
