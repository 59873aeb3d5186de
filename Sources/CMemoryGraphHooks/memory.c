// memory.c: memory of the agent's own, straight from the kernel, and the list of where it lies.

#include "mg_agent.h"
#include "mg_sys.h"

#include <string.h>
#include <sys/mman.h>

enum { OWN_RANGES = 512 };

// Readers leave these ranges out; the list is one of them.
static mg_own_range own_ranges[OWN_RANGES];
static _Atomic uint32_t own_range_count;

static void *map(size_t bytes, int protection) {
  long result = mg_sys6(SYS_mmap, 0, (long)bytes, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return result < 0 && result > -4096 ? NULL : (void *)result;
}

static void record_own(void *start, size_t bytes) {
  uint32_t index = atomic_fetch_add(&own_range_count, 1);
  if (index >= OWN_RANGES)
    return;
  own_ranges[index] = (mg_own_range){(uintptr_t)start, (uintptr_t)start + bytes};
  mg_state.own_ranges = (uintptr_t)own_ranges;
  mg_state.own_range_count = index + 1;
}

// What the tables may take, and what they have.
static uint64_t budget;
static _Atomic uint64_t taken;

void mg_memory_budget(uint64_t bytes) {
  budget = bytes;
}

bool mg_memory_take(size_t bytes) {
  if (!budget)
    return true;
  if (atomic_fetch_add(&taken, bytes) + bytes <= budget)
    return true;
  atomic_fetch_sub(&taken, bytes);
  return false;
}

bool mg_arena_reserve(mg_arena *arena, size_t bytes) {
  // Without access, so that no limit on memory counts it before it is used.
  void *base = map(bytes, PROT_NONE);
  if (!base)
    return false;
  *arena = (mg_arena){base, 0, bytes, false};
  record_own(base, bytes);
  return true;
}

bool mg_arena_commit(mg_arena *arena, size_t bytes) {
  if (bytes <= arena->committed)
    return true;
  if (bytes > arena->reserved)
    return false;
  // Grow by a quarter at least, so that a table of n entries costs O(log n) calls.
  size_t wanted = arena->committed + arena->committed / 4;
  wanted = (wanted > bytes ? wanted : bytes) + 0xffff;
  wanted &= ~(size_t)0xffff;
  if (wanted > arena->reserved)
    wanted = arena->reserved;
  size_t more = wanted - arena->committed;
  if (arena->is_budgeted && !mg_memory_take(more))
    return false;
  if (mg_sys3(SYS_mprotect, arena->base, wanted, PROT_READ | PROT_WRITE) != 0) {
    if (arena->is_budgeted && budget)
      atomic_fetch_sub(&taken, more);
    return false;
  }
  arena->committed = wanted;
  return true;
}

void *mg_own_map(size_t bytes) {
  void *memory = map(bytes, PROT_READ | PROT_WRITE);
  if (memory)
    record_own(memory, bytes);
  return memory;
}

void *mg_own_map_behind(size_t header, size_t bytes) {
  if (bytes < MG_HUGE_PAGE)
    return mg_own_map(header + bytes);
  uint8_t *memory = mg_own_map(header + bytes + MG_HUGE_PAGE);
  if (!memory)
    return NULL;
  uintptr_t start = ((uintptr_t)memory + header + MG_HUGE_PAGE - 1) & ~(MG_HUGE_PAGE - 1);
  // Of no effect where the kernel has none of them.
  mg_sys3(SYS_madvise, start, bytes, MADV_HUGEPAGE);
  return (void *)(start - header);
}

// --- text --------------------------------------------------------------------------------------

// Equal texts are kept once: a program may register a million objects under one name.
enum { TEXT_SLOTS = 1 << 16 };
static mg_arena texts;
static size_t texts_used;
static const char **text_slots;
static atomic_flag text_lock = ATOMIC_FLAG_INIT;

static const char *keep_text(const char *text, size_t bytes, uint64_t hash) {
  if (!text_slots) {
    if (!mg_arena_reserve(&texts, (size_t)1 << 30))
      return NULL;
    text_slots = mg_own_map(TEXT_SLOTS * sizeof *text_slots);
    if (!text_slots)
      return NULL;
  }
  // A full neighbourhood only costs the sharing.
  const char **slot = NULL;
  for (unsigned i = 0; i < 32; i++) {
    slot = &text_slots[(hash + i) % TEXT_SLOTS];
    if (!*slot)
      break;
    if (strcmp(*slot, text) == 0)
      return *slot;
  }
  if (!mg_arena_commit(&texts, texts_used + bytes))
    return NULL;
  char *copy = memcpy(texts.base + texts_used, text, bytes);
  texts_used += bytes;
  if (!*slot)
    *slot = copy;
  return copy;
}

const char *mg_keep_text(const char *text) {
  uint64_t hash = 0xcbf29ce484222325u;
  size_t bytes = 1;
  for (const char *c = text; *c; c++, bytes++)
    hash = (hash ^ (uint8_t)*c) * 0x100000001b3u;
  while (atomic_flag_test_and_set_explicit(&text_lock, memory_order_acquire))
    mg_sys0(SYS_sched_yield);
  const char *kept = keep_text(text, bytes, hash ^ hash >> 32);
  atomic_flag_clear_explicit(&text_lock, memory_order_release);
  return kept;
}
