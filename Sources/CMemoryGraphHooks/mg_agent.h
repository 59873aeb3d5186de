// mg_agent.h: what the agent's files know of each other. Nothing here is seen outside the agent.
#pragma once

#include "mg_layout.h"
#include "mg_state.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define MG_LIKELY(x) __builtin_expect(!!(x), 1)
#define MG_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define MG_INLINE static inline __attribute__((always_inline))

// Initial-exec: no call into the loader, which would allocate, on the way to a thread's own data.
#define MG_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

// A sanitizer brings an allocator of its own, which has to meet every block: the agent's functions are left out then.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define MG_IS_SANITIZED 1
#else
#define MG_IS_SANITIZED 0
#endif

// --- memory.c: memory of the agent's own, straight from the kernel -----------------------------

/// A table that grows in place: address space is reserved once, pages are added at its end.
typedef struct mg_arena {
  uint8_t *base;
  size_t committed; // bytes that can be used
  size_t reserved;
  bool is_budgeted; // what it grows by counts towards mg_memory_budget()
} mg_arena;

/// Reserves an arena and records it among the agent's own ranges. False: no address space.
bool mg_arena_reserve(mg_arena *arena, size_t bytes);

/// Makes the first `bytes` of an arena usable, zeroed. False: no memory, or more than was reserved.
bool mg_arena_commit(mg_arena *arena, size_t bytes);

/// Sets how many bytes the tables that grow with the heap may take: cells and stacks. 0 for no limit,
/// which is so at first.
void mg_memory_budget(uint64_t bytes);

/// Counts bytes towards the budget; false, and nothing counted, where it would be exceeded.
bool mg_memory_take(size_t bytes);

/// Maps zeroed memory and records it among the agent's own ranges; NULL where there is none.
void *mg_own_map(size_t bytes);

/// The same with a header in front: what lies behind it is in huge pages where it fills some, for tables
/// that are looked into at random: the translation of each address would cost as much as the word.
void *mg_own_map_behind(size_t header, size_t bytes);
#define MG_HUGE_PAGE ((uintptr_t)1 << 21)

/// Copies text into memory that stays for ever; NULL where there is none.
const char *mg_keep_text(const char *text);

// --- mappings.c --------------------------------------------------------------------------------

/// A mapping of the process.
typedef struct mg_mapping {
  uintptr_t low;
  uintptr_t high;
  bool is_heap; // the allocator's blocks can lie there: anonymous and writable
} mg_mapping;

/// The mapping that an address lies in; false where there is none, or /proc is not there. Costs a
/// read of the process's whole list.
bool mg_mapping_find(uintptr_t address, mg_mapping *mapping);

// --- table.c: the allocation table -------------------------------------------------------------

typedef _Atomic(uint64_t *) mg_chunk_slot;
extern _Atomic(mg_chunk_slot *) *mg_directory;

bool mg_table_start(void);

/// Makes the chunk that an address needs; NULL where there is no memory.
uint64_t *mg_cell_make(uintptr_t address);

/// The cell of an address; NULL where no block of its page was ever recorded.
MG_INLINE uint64_t *mg_cell_find(uintptr_t address) {
  uintptr_t page = address >> MG_PAGE_SHIFT;
  mg_chunk_slot *chunks =
      atomic_load_explicit(&mg_directory[page >> MG_TABLE_BITS], memory_order_acquire);
  if (MG_UNLIKELY(!chunks))
    return NULL;
  uint64_t *cells =
      atomic_load_explicit(&chunks[page & ((1u << MG_TABLE_BITS) - 1)], memory_order_acquire);
  if (MG_UNLIKELY(!cells))
    return NULL;
  return cells + ((address >> 4) & (MG_CELLS_PER_PAGE - 1));
}

// Cells are read by other threads and by a twin's reader: whole words, no order.
MG_INLINE uint64_t mg_cell_load(const uint64_t *cell) {
  return __atomic_load_n(cell, __ATOMIC_RELAXED);
}
MG_INLINE void mg_cell_store(uint64_t *cell, uint64_t value) {
  __atomic_store_n(cell, value, __ATOMIC_RELAXED);
}

/// A new block's cell.
MG_INLINE uint64_t mg_cell_of(uint32_t stack, uint32_t generation, size_t size) {
  uint64_t bytes = size < MG_SIZE_LARGE ? size : MG_SIZE_LARGE;
  uint64_t births = generation < MG_GENERATION_MAX ? generation : MG_GENERATION_MAX;
  return bytes << 37 | MG_CELL_LIVE | births << 22 | stack;
}

// --- stacks.c: where a block was asked for -----------------------------------------------------

enum { MG_STACKS_NONE = 0, MG_STACKS_FAST = 1, MG_STACKS_FULL = 2 };

/// Sets up the tables.
bool mg_stacks_start(uint32_t mode);

/// Loads what full stacks need; until then, and where it can't be had, they are fast ones. Not to be
/// called before libc is initialised.
void mg_stacks_load_unwinder(void);

/// The stack of the function whose frame is given, without that function itself, as an index for a
/// cell; 0 where it is unknown.
uint32_t mg_stack_capture(void **frame);

/// The same stack within a scope (a number above 0), as a row of its own; 0 where there is no room.
uint32_t mg_stack_in_scope(uint32_t row, uint32_t scope);

/// The scope of a row; 0 for none.
uint32_t mg_stack_scope(uint32_t row);

/// Writes down the return addresses of a row, the innermost first, `room` of them at most. The number of all;
/// 0 where the stack is unknown.
size_t mg_stack_frames(uint32_t row, uint64_t *frames, size_t room);

// --- scopes.c: which check a block was born in --------------------------------------------------

/// How many scopes are open. Read by every birth.
extern _Atomic uint32_t mg_scopes_open;

/// The scope that the calling thread works in, and the row of a stack in that scope; 0 and the stack as
/// it is where there is none.
uint64_t mg_scope_enter(uint32_t *stack);

/// Adds a block whose cell is there to a scope.
void mg_scope_add(uint64_t scope, uintptr_t block);

// --- interpose.c -------------------------------------------------------------------------------

/// Not 0 while deaths are looked at: always when births are recorded, and where something is
/// registered. Read by every call of the allocator.
extern uint32_t mg_watching;
enum { MG_WATCHING_ALL = 1, MG_WATCHING_SAMPLES = 2 };

/// 1 while births are recorded.
extern uint32_t mg_tracking;

/// Births of a quiet thread are recorded without a stack and a scope. Counted in `busy`, so that a birth
/// on any other thread needs no test of its own for it.
#define MG_QUIET UINT32_C(0x10000)

/// What one thread is in the middle of.
typedef struct mg_thread_state {
  uint32_t busy;                // calls inside the agent: births are not recorded; MG_QUIETs
  uint32_t was_stopped_in_call; // a mark ended the system call that the thread was in
  // A reallocation in flight: its old block has no cell at the moment.
  uint64_t *moving_cell;
  uint64_t moving_value;
  uintptr_t stack_low; // the stack's bounds; high is 0 until they are asked for
  uintptr_t stack_high;
  uint64_t unsampled; // bytes that are asked for before the next sample
  uint64_t random;    // the state of the thread's random numbers; 0 until its first sample is drawn
  // Where the agent was called for a mark; 0 while it was not. Below lie its own frames and old words.
  uintptr_t mark_stack;
  uintptr_t mark_frame;
  uintptr_t mark_caller;
} mg_thread_state;

extern MG_THREAD_LOCAL mg_thread_state mg_thread;

/// Whether a block from libc itself gets a cell; the address of the allocator that libc uses
/// instead.
bool mg_interposition_works(void);

// --- sample.c ----------------------------------------------------------------------------------

/// Heads of the chains of samples, by hash of the address; rows are named from 1, 0 is an empty chain.
typedef struct mg_sample_heads {
  uint64_t shift; // 64 less the number of bits of a hash
  uint32_t rows[];
} mg_sample_heads;
extern _Atomic(mg_sample_heads *) mg_sample_table;

bool mg_samples_start(void);

MG_INLINE uint64_t mg_sample_slot(const mg_sample_heads *table, uintptr_t address) {
  return (address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> table->shift;
}

/// Whether something may be recorded of a block; false where certainly nothing is. Asked at each death.
MG_INLINE bool mg_sample_may_be(uintptr_t address) {
  mg_sample_heads *table = atomic_load_explicit(&mg_sample_table, memory_order_acquire);
  return __atomic_load_n(&table->rows[mg_sample_slot(table, address)], __ATOMIC_RELAXED) != 0;
}

/// Whether no sample is among the next bytes that the calling thread asks for; they are counted.
MG_INLINE bool mg_sample_skips(size_t size) {
  if (MG_UNLIKELY(size > mg_thread.unsampled))
    return false;
  mg_thread.unsampled -= size;
  return true;
}

/// Whether bytes that were not skipped have a sample in them; the way to the next one is drawn.
bool mg_sample_reached(size_t size);

/// Has the calling thread's next block, of one byte or more, be a sample.
void mg_sample_next(void);

/// What is recorded of a block, as a cell; 0 for nothing.
uint64_t mg_sample_cell(uintptr_t address);

/// Sets bits of a block's cell and clears others. A cell of 0 is no longer there. False: no memory.
bool mg_sample_change(uintptr_t address, uint64_t set, uint64_t cleared);

/// Takes a block's cell away and returns it; 0 for none.
uint64_t mg_sample_take(uintptr_t address);

// --- registry.c --------------------------------------------------------------------------------

bool mg_registry_start(void);

// The calls of memory_graph.h; `frame` is the caller's, for the stack.
int mg_register(const void *object, const char *name, void **frame);
int mg_register_resource(const void *resource, const char *type, size_t bytes, void **frame);
int mg_unregister(const void *registered);
int mg_add_strong_edge(const void *from, const void *to, const char *label);
int mg_remove_strong_edge(const void *from, const void *to, const char *label);

/// Ends all registrations at an address. Called before the block there goes back to the allocator.
void mg_registry_block_died(uintptr_t address);

// --- threads.c ---------------------------------------------------------------------------------

bool mg_threads_start(void);

/// The signal that stops threads; 0 before the start.
extern int mg_stop_signal;

/// Stops all other threads and records where all stand. One thread at a time may call it. 0, or the
/// errno why the threads are not known; then none is stopped.
int mg_threads_stop(void);
void mg_threads_resume(void);

/// The calling thread's row while the threads stand still; NULL for the agent's own thread.
mg_thread_entry *mg_threads_caller(void);

/// Remembers the calling thread as the main one.
void mg_threads_remember_main(void);

/// Says which thread is the agent's own.
void mg_threads_set_agent_thread(uint32_t tid);

/// The stack of the calling thread, or false. Asks the kernel once a thread.
bool mg_stack_bounds(uintptr_t *low, uintptr_t *high);

// --- masks.c -----------------------------------------------------------------------------------

/// Unblocks the stop signal in the calling thread.
void mg_masks_let_through(void);

// --- waits.c -----------------------------------------------------------------------------------

/// Looks up what waits.c stands before. Called when the agent is initialised, started or not.
void mg_waits_start(void);

// --- socketwaits.c -----------------------------------------------------------------------------

/// The same of the calls in socketwaits.c; mg_waits_start() does it.
void mg_socket_waits_start(void);

// --- twin.c ------------------------------------------------------------------------------------

/// What a twin does beside sleeping.
typedef struct mg_twin_plan {
  const char *reader; // executable to run as the reader; NULL for none
  const char *const *arguments;
  const char *const *environment;
  int channel; // the reader's end of the channel; -1 for none
  int memory;  // the socket over which the twin serves its memory; -1 for none
} mg_twin_plan;

/// Stops the threads, copies the process, ends the generation, lets the threads go on.
///
/// The twin's process id, or -errno.
int mg_twin_make(const mg_twin_plan *plan);

/// Kills and reaps a twin.
void mg_twin_end(int twin);

// --- serve.c -----------------------------------------------------------------------------------

/// In a twin: serves its memory until the other end of the socket is closed.
void mg_serve(int socket);

// --- channel.c ---------------------------------------------------------------------------------

/// Has a snapshot of the process written to an absolute path: makes the twin, asks a reader, waits.
/// 0 or an errno.
int mg_channel_snapshot(const char *path);

/// Tells `memgraph run` that the agent is at work.
void mg_channel_hello(void);

// --- marks.c -----------------------------------------------------------------------------------

bool mg_marks_start(void);

/// memory_graph_mark and memory_graph_snapshot without the question whether this copy is the one.
int mg_mark(const char *name);

/// A mark that tells the path of its snapshot, of less than MG_MAX_PATH bytes; empty where none was
/// written.
int mg_mark_telling(const char *name, char *written);
#define MG_MAX_PATH 4096

/// The mark of the program's end. From then on mg_mark_telling and mg_snapshot_asked, which are for others than the
/// program, answer ESRCH: the process would be gone before their snapshots were done.
int mg_mark_end(const char *name);
int mg_snapshot_asked(const char *path);
int mg_snapshot(const char *path);

/// The folder's absolute path; NULL for none.
void mg_marks_set_folder(const char *folder);

/// Ends the generation. Called while the threads stand still.
void mg_marks_end_generation(void);

// --- listener.c --------------------------------------------------------------------------------

/// Starts the thread that answers `memgraph mark PID NAME`.
void mg_listener_start(void);

// --- start.c -----------------------------------------------------------------------------------

/// What the environment asks for.
typedef struct mg_settings {
  const char *folder;
  const char *channel;
  uint32_t stacks;
  uint32_t blocks;
  uint32_t contents;
  bool at_exit;
  uint64_t table_bytes;     // what the tables may take; 0 for no limit
  uint32_t sample_interval; // as in mg_state
} mg_settings;
extern mg_settings mg_config;

/// What a preloaded copy does once all libraries are initialised, before main.
void mg_main_begins(void);

/// Whether this copy of the agent lies in the executable (else it was preloaded).
bool mg_is_linked(void);

/// The channel of a program that was executed again as a reader; NULL in any other.
extern const char *mg_reader_channel;

/// Makes the tables where there are none. 0 or an errno; ENOTSUP in a fork.
int mg_prepare(void);

/// Starts recording where it is not started. 0 or an errno.
int mg_start(void);

/// Why the agent can't work; NULL where it can.
const char *mg_problem(void);

/// Whether only samples are recorded, which is then the problem: for what needs every block.
bool mg_refuses_samples(void);

/// Whether the process is the one that the agent started in, not a fork of it.
bool mg_is_here(void);

// Causes beside the errnos.
enum { MG_CAUSE_TABLES_FULL = 1000, MG_CAUSE_NO_SIZE };

/// Says a sentence on standard error, once for each cause: an errno, 0 or MG_CAUSE_...
void mg_complain(unsigned cause, const char *what, const char *why);

// --- api.c -------------------------------------------------------------------------------------

/// The functions of memory_graph.h, as one copy of the agent hands them to another.
typedef struct mg_api {
  uint64_t magic;
  int (*start)(void);
  int (*mark)(const char *);
  int (*snapshot)(const char *);
  int (*register_object)(const void *, const char *);
  int (*register_resource)(const void *, const char *, size_t);
  int (*unregister)(const void *);
  int (*add_strong_edge)(const void *, const void *, const char *);
  int (*remove_strong_edge)(const void *, const void *, const char *);
  const char *(*problem)(void);
} mg_api;

extern const mg_api mg_own_api;

/// The executable's copy, where this one stepped aside for it.
extern const mg_api *mg_other_api;

// A call of posix_memalign that no program makes (the alignment is none): a copy of the agent
// answers it with MG_HANDSHAKE_ANSWER and its mg_api. It is how a preloaded copy sees that the
// executable has one: of the executable's symbols only those that libraries import are in sight.
#define MG_HANDSHAKE_ALIGNMENT ((size_t)0x4d4d475250483f01)
#define MG_HANDSHAKE_SIZE ((size_t)0x0048414e445348ff)
#define MG_HANDSHAKE_ANSWER 0x4d4d47

#pragma GCC visibility pop
