// interpose.c: the functions of the malloc family and of signal masks that stand before libc's own.
//
// Until the agent starts each is a load, a test and a jump. The tracked version of a function is
// reached by a tail call, so that its frame's return address is the caller's.

#include "mg_stacks.h"
#include "mg_sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define MG_EXPORT __attribute__((visibility("default"), used))
#define MG_JUMP __attribute__((musttail)) return

// What is reached by a jump, from assembly too.
#define MG_TRACKED static __attribute__((noinline, used))

uint32_t mg_tracking;
uint32_t mg_watching;
MG_THREAD_LOCAL mg_thread_state mg_thread;

// Every function that is interposed: result, name, parameters, arguments, libc's own function.
//
// glibc exports its allocator under these names as well; a lookup by dlsym would itself allocate.
#define MG_INTERPOSED(F)                                                                           \
  F(void *, malloc, (size_t size), (size), __libc_malloc)                                          \
  F(void, free, (void *block), (block), __libc_free)                                               \
  F(void *, calloc, (size_t count, size_t size), (count, size), __libc_calloc)                     \
  F(void *, realloc, (void *block, size_t size), (block, size), __libc_realloc)                    \
  F(void *, memalign, (size_t alignment, size_t size), (alignment, size), __libc_memalign)         \
  F(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size), __libc_memalign)    \
  F(void *, valloc, (size_t size), (size), __libc_valloc)                                          \
  F(void *, pvalloc, (size_t size), (size), __libc_pvalloc)                                        \
  F(void *, reallocarray, (void *block, size_t count, size_t size), (block, count, size),          \
    untracked_reallocarray)                                                                        \
  F(int, posix_memalign, (void **block, size_t alignment, size_t size), (block, alignment, size),  \
    untracked_posix_memalign)

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void *__libc_valloc(size_t);
extern void *__libc_pvalloc(size_t);

MG_TRACKED void *untracked_reallocarray(void *block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_realloc(block, bytes);
}

// What posix_memalign answers before it allocates: 0, EINVAL, or what a copy of the agent asks for.
static int check_posix_memalign(void **block, size_t alignment, size_t size) {
  if (MG_UNLIKELY(alignment == MG_HANDSHAKE_ALIGNMENT && size == MG_HANDSHAKE_SIZE)) {
    *block = (void *)(uintptr_t)&mg_own_api;
    return MG_HANDSHAKE_ANSWER;
  }
  bool is_power_of_two = alignment && !(alignment & (alignment - 1));
  return is_power_of_two && alignment % sizeof(void *) == 0 ? 0 : EINVAL;
}

MG_TRACKED int untracked_posix_memalign(void **block, size_t alignment, size_t size) {
  int problem = check_posix_memalign(block, alignment, size);
  if (problem)
    return problem;
  int error = errno; // posix_memalign leaves it alone
  void *made = __libc_memalign(alignment, size);
  errno = error;
  if (!made)
    return ENOMEM;
  *block = made;
  return 0;
}

// --- births and deaths -------------------------------------------------------------------------

// A block that has no cell. From here on the reader completes the tables with the allocator's own heap, as
// it does for an agent that started late, so that what only such a block holds is not called leaked.
static __attribute__((noinline)) void lose_block(void) {
  if (__atomic_fetch_add(&mg_state.lost_blocks, 1, __ATOMIC_RELAXED))
    return;
  __atomic_store_n(&mg_state.is_complete, 0, __ATOMIC_RELAXED);
  mg_complain(
      MG_CAUSE_TABLES_FULL, "recording",
      mg_config.table_bytes
          ? "the agent's tables have reached their limit (--table-memory): blocks from here "
            "on have neither a stack nor a generation"
          : "there is no memory for the agent's tables: blocks from here on have neither a "
            "stack nor a generation");
}

// On a thread that is quiet, and not inside the agent.
static __attribute__((noinline)) void born_quietly(void *block, size_t size) {
  if (!block || !mg_tracking || mg_thread.busy % MG_QUIET)
    return;
  mg_thread.busy++;
  uint64_t *cell = mg_cell_make((uintptr_t)block);
  mg_thread.busy--;
  if (cell)
    mg_cell_store(cell,
                  mg_cell_of(0, __atomic_load_n(&mg_state.generation, __ATOMIC_RELAXED), size));
  else
    lose_block();
}

static __attribute__((noinline)) void born(void *block, size_t size, void **frame) {
  if (MG_UNLIKELY(!block || mg_thread.busy || !mg_tracking)) {
    born_quietly(block, size);
    return;
  }
  uint64_t *cell = mg_cell_find((uintptr_t)block);
  if (MG_LIKELY(cell))
    __builtin_prefetch(cell, 1);
  mg_thread.busy = 1;
  uint32_t stack = MG_LIKELY(mg_state.stack_mode == MG_STACKS_FAST) ? mg_stack_capture_fast(frame)
                                                                    : mg_stack_capture(frame);
  if (MG_UNLIKELY(!cell))
    cell = mg_cell_make((uintptr_t)block);
  uint64_t scope = 0;
  if (MG_UNLIKELY(atomic_load_explicit(&mg_scopes_open, memory_order_relaxed)))
    scope = mg_scope_enter(&stack);
  mg_thread.busy = 0;
  if (MG_UNLIKELY(!cell)) {
    lose_block();
    return;
  }
  uint32_t generation = __atomic_load_n(&mg_state.generation, __ATOMIC_RELAXED);
  mg_cell_store(cell, mg_cell_of(stack, generation, size));
  if (MG_UNLIKELY(scope))
    mg_scope_add(scope, (uintptr_t)block);
}

// Before the block goes back: afterwards the address may be another thread's new block.
MG_INLINE void died(void *block) {
  uint64_t *cell = mg_cell_find((uintptr_t)block);
  if (MG_UNLIKELY(!cell))
    return;
  uint64_t value = mg_cell_load(cell);
  mg_cell_store(cell, 0);
  if (MG_UNLIKELY(value & MG_CELL_REGISTERED))
    mg_registry_block_died((uintptr_t)block);
}

// A block with a sample in it.
static __attribute__((noinline)) void born_as_sample(void *block, size_t size, void **frame) {
  if (!block || mg_thread.busy || !mg_tracking)
    return;
  mg_thread.busy = 1;
  uint32_t stack = mg_stack_capture(frame);
  uint32_t generation = __atomic_load_n(&mg_state.generation, __ATOMIC_RELAXED);
  bool is_there =
      mg_sample_change((uintptr_t)block, mg_cell_of(stack, generation, size), ~UINT64_C(0));
  mg_thread.busy = 0;
  if (!is_there)
    lose_block();
}

static __attribute__((noinline)) void died_as_sample(void *block) {
  if (mg_sample_take((uintptr_t)block) & MG_CELL_REGISTERED)
    mg_registry_block_died((uintptr_t)block);
}

MG_TRACKED void *tracked_malloc(size_t size) {
  void *block = __libc_malloc(size);
  born(block, size, __builtin_frame_address(0));
  return block;
}

MG_TRACKED void tracked_free(void *block) {
  if (MG_LIKELY(block))
    died(block);
  MG_JUMP __libc_free(block);
}

MG_TRACKED void *tracked_calloc(size_t count, size_t size) {
  void *block = __libc_calloc(count, size);
  born(block, count * size, __builtin_frame_address(0));
  return block;
}

MG_TRACKED void *tracked_memalign(size_t alignment, size_t size) {
  void *block = __libc_memalign(alignment, size);
  born(block, size, __builtin_frame_address(0));
  return block;
}

MG_TRACKED void *tracked_aligned_alloc(size_t alignment, size_t size) {
  void *block = __libc_memalign(alignment, size);
  born(block, size, __builtin_frame_address(0));
  return block;
}

MG_TRACKED void *tracked_valloc(size_t size) {
  void *block = __libc_valloc(size);
  born(block, size, __builtin_frame_address(0));
  return block;
}

MG_TRACKED void *tracked_pvalloc(size_t size) {
  void *block = __libc_pvalloc(size);
  born(block, size, __builtin_frame_address(0));
  return block;
}

MG_TRACKED int tracked_posix_memalign(void **block, size_t alignment, size_t size) {
  int problem = untracked_posix_memalign(block, alignment, size);
  if (!problem)
    born(*block, size, __builtin_frame_address(0));
  return problem;
}

// libc's own, whoever's function of that name comes first: another allocator that is loaded knows nothing of
// blocks that libc made.
#if !MG_IS_SANITIZED
typedef size_t usable_size(void *block);
static _Atomic(usable_size *) libc_usable_size;

static __attribute__((noinline)) size_t find_usable_size(void *block) {
  void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void *found = dlsym(libc ? libc : RTLD_NEXT, "malloc_usable_size");
  usable_size *function;
  memcpy(&function, &found, sizeof function);
  atomic_store_explicit(&libc_usable_size, function, memory_order_relaxed);
  return function(block);
}

MG_EXPORT size_t malloc_usable_size(void *block) {
  usable_size *function = atomic_load_explicit(&libc_usable_size, memory_order_relaxed);
  if (MG_UNLIKELY(!function))
    MG_JUMP find_usable_size(block);
  MG_JUMP function(block);
}
#endif

// A registered block moves by hand, so that its registration has ended before its address is free.
static __attribute__((noinline)) void *move_registered(void *block, size_t size, void **frame) {
  void *made = __libc_malloc(size);
  if (!made)
    return NULL;
  size_t old = malloc_usable_size(block);
  memcpy(made, block, old < size ? old : size);
  died(block);
  __libc_free(block);
  born(made, size, frame);
  return made;
}

MG_INLINE void *reallocate(void *block, size_t size, void **frame) {
  uint64_t *cell = block ? mg_cell_find((uintptr_t)block) : NULL;
  uint64_t value = cell ? mg_cell_load(cell) : 0;
  if (MG_UNLIKELY(value & MG_CELL_REGISTERED)) {
    if (size)
      return move_registered(block, size, frame);
    died(block);
    value = 0;
  }
  if (value) {
    // A thread that is stopped here gives the old block its cell back until it goes on: a twin
    // without the block would lose what hangs on it.
    mg_thread.moving_value = value;
    atomic_signal_fence(memory_order_seq_cst);
    mg_thread.moving_cell = cell;
    atomic_signal_fence(memory_order_seq_cst);
    mg_cell_store(cell, 0);
  }
  void *made = __libc_realloc(block, size);
  if (MG_LIKELY(made)) {
    born(made, size, frame);
  } else if (value && size) {
    mg_cell_store(cell, value); // failed: the old block lives on
  }
  atomic_signal_fence(memory_order_seq_cst);
  mg_thread.moving_cell = NULL;
  return made;
}

MG_TRACKED void *tracked_realloc(void *block, size_t size) {
  return reallocate(block, size, __builtin_frame_address(0));
}

MG_TRACKED void *tracked_reallocarray(void *block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return reallocate(block, bytes, __builtin_frame_address(0));
}

// --- where blocks are sampled -------------------------------------------------------------------

// A block without a sample costs a comparison and a subtraction, its end a look at an empty chain.

#define MG_SAMPLED(name, parameters, arguments, bytes, own)                                        \
  static __attribute__((noinline)) void *sample_##name parameters {                                \
    if (!mg_sample_reached(bytes))                                                                 \
      MG_JUMP own arguments;                                                                       \
    void *block = own arguments;                                                                   \
    born_as_sample(block, bytes, __builtin_frame_address(0));                                      \
    return block;                                                                                  \
  }                                                                                                \
  MG_TRACKED void *sampled_##name parameters {                                                     \
    if (MG_LIKELY(mg_sample_skips(bytes)))                                                         \
      MG_JUMP own arguments;                                                                       \
    MG_JUMP sample_##name arguments;                                                               \
  }

MG_SAMPLED(malloc, (size_t size), (size), size, __libc_malloc)
MG_SAMPLED(calloc, (size_t count, size_t size), (count, size), count *size, __libc_calloc)
MG_SAMPLED(memalign, (size_t alignment, size_t size), (alignment, size), size, __libc_memalign)
MG_SAMPLED(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size, __libc_memalign)
MG_SAMPLED(valloc, (size_t size), (size), size, __libc_valloc)
MG_SAMPLED(pvalloc, (size_t size), (size), size, __libc_pvalloc)

static __attribute__((noinline)) int sample_posix_memalign(void **block, size_t alignment,
                                                           size_t size) {
  if (!mg_sample_reached(size))
    MG_JUMP untracked_posix_memalign(block, alignment, size);
  int problem = untracked_posix_memalign(block, alignment, size);
  if (!problem)
    born_as_sample(*block, size, __builtin_frame_address(0));
  return problem;
}

MG_TRACKED int sampled_posix_memalign(void **block, size_t alignment, size_t size) {
  // What a copy of the agent asks for is no allocation, whatever its size says.
  if (MG_LIKELY(alignment == MG_HANDSHAKE_ALIGNMENT || mg_sample_skips(size)))
    MG_JUMP untracked_posix_memalign(block, alignment, size);
  MG_JUMP sample_posix_memalign(block, alignment, size);
}

MG_TRACKED void sampled_free(void *block) {
  if (MG_UNLIKELY(mg_sample_may_be((uintptr_t)block)))
    died_as_sample(block);
  MG_JUMP __libc_free(block);
}

// Of a block that is recorded, or whose new size has a sample in it.
MG_INLINE void *reallocate_sample(void *block, size_t size, bool is_sample, void **frame) {
  uint64_t cell = block ? mg_sample_cell((uintptr_t)block) : 0;
  void *made;
  if (MG_UNLIKELY(cell & MG_CELL_REGISTERED) && size) {
    // By hand, so that its registration has ended before its address is free.
    made = __libc_malloc(size);
    if (!made)
      return NULL;
    size_t old = malloc_usable_size(block);
    memcpy(made, block, old < size ? old : size);
    died_as_sample(block);
    __libc_free(block);
  } else {
    if (cell)
      died_as_sample(block);
    made = __libc_realloc(block, size);
    if (!made && size && cell)
      mg_sample_change((uintptr_t)block, cell, 0); // failed: the old block lives on
  }
  if (made && is_sample)
    born_as_sample(made, size, frame);
  return made;
}

static __attribute__((noinline)) void *sample_realloc(void *block, size_t size) {
  return reallocate_sample(block, size, mg_sample_reached(size), __builtin_frame_address(0));
}

static __attribute__((noinline)) void *unsampled_realloc(void *block, size_t size) {
  return reallocate_sample(block, size, false, NULL);
}

MG_TRACKED void *sampled_realloc(void *block, size_t size) {
  if (MG_UNLIKELY(!mg_sample_skips(size)))
    MG_JUMP sample_realloc(block, size);
  if (MG_UNLIKELY(block && mg_sample_may_be((uintptr_t)block)))
    MG_JUMP unsampled_realloc(block, size);
  MG_JUMP __libc_realloc(block, size);
}

static __attribute__((noinline)) void *sample_reallocarray(void *block, size_t count, size_t size) {
  return reallocate_sample(block, count * size, mg_sample_reached(count * size),
                           __builtin_frame_address(0));
}

MG_TRACKED void *sampled_reallocarray(void *block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  if (MG_UNLIKELY(!mg_sample_skips(bytes)))
    MG_JUMP sample_reallocarray(block, count, size);
  if (MG_UNLIKELY(block && mg_sample_may_be((uintptr_t)block)))
    return reallocate_sample(block, bytes, false, NULL);
  return __libc_realloc(block, bytes);
}

// None of them where a sanitizer is built in: its own functions of these names would be half in use.
#if MG_IS_SANITIZED
#define MG_DEFINE(result, name, parameters, arguments, own)
#elif defined(__x86_64__)
// By hand: with frame pointers, as packages are built, the compiler's version is twice as long.
#define MG_DEFINE(result, name, parameters, arguments, own)                                        \
  MG_EXPORT __attribute__((naked)) result name parameters {                                        \
    __asm__("cmpl $1, mg_watching(%rip)\n\t"                                                       \
            "jae 1f\n\t"                                                                           \
            "jmp *" #own "@GOTPCREL(%rip)\n"                                                       \
            "1:\tje tracked_" #name "\n\t"                                                         \
            "jmp sampled_" #name);                                                                 \
  }
#else
#define MG_DEFINE(result, name, parameters, arguments, own)                                        \
  MG_EXPORT result name parameters {                                                               \
    uint32_t watching = __atomic_load_n(&mg_watching, __ATOMIC_RELAXED);                           \
    if (MG_LIKELY(!watching))                                                                      \
      MG_JUMP own arguments;                                                                       \
    if (watching == MG_WATCHING_ALL)                                                               \
      MG_JUMP tracked_##name arguments;                                                            \
    MG_JUMP sampled_##name arguments;                                                              \
  }
#endif

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
MG_INTERPOSED(MG_DEFINE)
#pragma clang diagnostic pop

// --- does it work? -----------------------------------------------------------------------------

bool mg_interposition_works(void) {
  // strdup is libc's and calls malloc as any library does: its block has a cell only if libc's
  // calls come here.
  mg_sample_next();
  char *copy = strdup("memory-graph");
  if (!copy)
    return false;
  if (mg_config.sample_interval) {
    bool is_sample = mg_sample_cell((uintptr_t)copy) & MG_CELL_LIVE;
    free(copy);
    return is_sample;
  }
  uint64_t *cell = mg_cell_find((uintptr_t)copy);
  bool has_cell = cell && (mg_cell_load(cell) & MG_CELL_LIVE);
  free(copy);
  return has_cell;
}
