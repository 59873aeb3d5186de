// mg_layout.h: the agent's tables as they lie in the program's memory.
//
// The reader of a twin, a process or a core file finds `mg_state` through one exported symbol (or
// through the request on the channel) and reads everything else by following its pointers. Fields
// have fixed widths; a change that a reader would notice raises MG_LAYOUT_VERSION.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MG_STATE_MAGIC UINT64_C(0x3148504152474d4d) // "MMGRAPH1"
#define MG_LAYOUT_VERSION 2

// The version where blocks are sampled: a reader that does not know it must not take the few cells that there
// are for all blocks.
#define MG_LAYOUT_VERSION_SAMPLED 3

// --- the allocation table: shadow pages --------------------------------------------------------
//
// One 8-byte cell for each 16 bytes of heap. A page of 4 KiB has 256 cells, in a chunk of their own;
// a chunk is found through two levels: directory[page >> 18] is a table of 2^18 chunk pointers,
// indexed by page & 0x3ffff, where page = address >> 12. The cell of a block is the one of its first
// 16 bytes; all cells that no live block starts in are 0.

#define MG_PAGE_SHIFT 12
#define MG_CELLS_PER_PAGE 256
#define MG_TABLE_BITS 18
#define MG_DIRECTORY_BITS 17

// A cell, from the lowest bit: 22 bits stack (index in `stacks`, 0 unknown), 13 bits generation
// (saturates), 1 bit registered, 1 bit live, 27 bits size (MG_SIZE_LARGE: as large or larger; the size
// is then in the allocator's chunk header).
#define MG_CELL_STACK(c) ((uint32_t)((c)&0x3fffff))
#define MG_CELL_GENERATION(c) ((uint32_t)(((c) >> 22) & 0x1fff))
#define MG_CELL_REGISTERED (UINT64_C(1) << 35)
#define MG_CELL_LIVE (UINT64_C(1) << 36)
#define MG_CELL_SIZE(c) ((uint32_t)((c) >> 37))
#define MG_SIZE_LARGE 0x7ffffffu
#define MG_GENERATION_MAX 0x1fffu
#define MG_STACK_MAX 0x3fffffu

// --- samples, in place of the allocation table -------------------------------------------------

// A block that is a sample, or of which the registry says something, or both.
typedef struct mg_sample {
  uint64_t address; // 0: the row is free
  uint64_t cell;    // as in the allocation table; not live where the block is no sample
  uint32_t next;    // the agent's own: the next row of the same hash, or the next free one
  uint32_t pad;
} mg_sample;

// --- stacks: a trie ----------------------------------------------------------------------------

typedef struct mg_trie_node {
  uint64_t pc;      // return address
  uint32_t parent;  // the caller's node; node 0 is the root
  uint32_t sibling; // the agent's own: another node with that parent; 0 for none
} mg_trie_node;

// What a cell's stack index leads to.
typedef struct mg_stack_entry {
  uint64_t hash;      // 0: the slot is free
  uint32_t trie_node; // innermost frame
  uint32_t scope;     // the check that the blocks of this row were born in; 0 for none
} mg_stack_entry;

// --- the registry ------------------------------------------------------------------------------

enum {
  MG_REGISTERED_OBJECT = 1,   // a block of the heap with a name; valid while its cell is registered
  MG_REGISTERED_RESOURCE = 2, // something else; `bytes` is what it costs
};

typedef struct mg_registration {
  uint64_t address; // 0: the slot is free
  uint64_t bytes;
  uint64_t name;       // address of a NUL-terminated string
  uint32_t kind;       // MG_REGISTERED_...
  uint32_t generation; // when it was registered
  uint32_t stack;      // as in a cell
  uint32_t is_block; // the address is a live malloc block: ignore it unless its cell is registered
} mg_registration;

typedef struct mg_declared_edge {
  uint64_t from; // 0: the slot is free
  uint64_t to;
  uint64_t label; // address of a NUL-terminated string
} mg_declared_edge;

// --- marks and threads -------------------------------------------------------------------------

typedef struct mg_mark_entry {
  uint64_t name; // address of a NUL-terminated string
  uint64_t time; // CLOCK_BOOTTIME, nanoseconds
  uint32_t generation;
  uint32_t pad;
} mg_mark_entry;

// A thread as it stood when the twin was made.
typedef struct mg_thread_entry {
  uint32_t tid;
  uint32_t stopped;       // 0: it did not answer in time, the registers are unknown
  uint64_t registers[16]; // rax rbx rcx rdx rsi rdi rbp rsp r8 ... r15; on arm64 x0 ... x15
  uint64_t pc;
  uint64_t stack_pointer;
  uint64_t thread_pointer; // fs base, tpidr_el0
  uint64_t stack_low;      // where the stack's mapping starts and ends; 0 where it is unknown
  uint64_t stack_high;
  uint64_t
      vector_state; // its vector registers as XSAVE lays them out, in its signal frame; 0 for none
  uint64_t vector_bytes;
  char name[16];
} mg_thread_entry;

// Memory of the agent itself, which is no part of the program's graph and must not be scanned.
typedef struct mg_own_range {
  uint64_t start;
  uint64_t end;
} mg_own_range;

// --- the state ---------------------------------------------------------------------------------

typedef struct mg_state_layout {
  uint64_t magic;
  uint32_t version;
  uint32_t size; // of this structure

  uint32_t pid;
  uint32_t tracking;   // 1: births and deaths are recorded
  uint32_t generation; // marks taken so far
  uint32_t stack_mode; // 0 none, 1 fast, 2 full
  uint64_t run_identity;
  uint64_t mark_name; // of the mark or snapshot that the twin was made for; 0 for none

  uint64_t directory;  // 2^MG_DIRECTORY_BITS pointers
  uint64_t trie;       // mg_trie_node[trie_count]
  uint64_t trie_count; //
  uint64_t stacks;     // mg_stack_entry[stacks_capacity]
  uint64_t stacks_capacity;
  uint64_t registrations; // mg_registration[registration_capacity], free slots among them
  uint64_t registration_capacity;
  uint64_t declared_edges; // mg_declared_edge[declared_edge_capacity], free slots among them
  uint64_t declared_edge_capacity;
  uint64_t marks; // mg_mark_entry[mark_count]
  uint64_t mark_count;
  uint64_t threads; // mg_thread_entry[thread_count]
  uint64_t thread_count;
  uint64_t own_ranges; // mg_own_range[own_range_count]
  uint64_t own_range_count;

  // What was lost, each a number of times.
  uint64_t lost_stacks;       // the stack tables were full
  uint64_t lost_blocks;       // the table had no memory for a page
  uint64_t pause_nanoseconds; // how long the threads stood still for the last twin

  // What the program's user asked for.
  uint32_t blocks;   // 0: all blocks; 1: blocks that are not Swift's need no node
  uint32_t contents; // 0: none of the program's data; 1: keys of dictionaries in labels

  // 1: every block since the program's beginning was recorded. A linked agent starts after libraries
  // and maybe after much of the program: what holds an object may then be a block that it never saw.
  uint32_t is_complete;

  // 0: every birth is recorded, in the allocation table. Else of each so many bytes that are asked for one, in the
  // mean, is a sample, and only blocks with a sample in them are recorded, in `samples`.
  uint32_t sample_interval;
  uint64_t samples; // mg_sample[sample_capacity], free rows among them
  uint64_t sample_capacity;
} mg_state_layout;
