// generate.c: made-up object graphs.

#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// xorshift64*, Vigna (2016).
static uint64_t next_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 2685821657736338717ull;
}

static double unit(uint64_t *state) {
  return (double)(next_random(state) >> 11) * 0x1p-53;
}

typedef struct {
  reference_graph *graph;
  uint32_t room;
  bool failed;
} writer;

static void add(writer *to, uint32_t target) {
  reference_graph *graph = to->graph;
  if (graph->edge_count == to->room) {
    uint32_t room = to->room + to->room / 2 + 1024;
    uint32_t *grown = realloc(graph->targets, (size_t)room * 4);
    if (!grown) {
      to->failed = true;
      return;
    }
    graph->targets = grown;
    to->room = room;
  }
  graph->targets[graph->edge_count++] = target;
}

static void heap(writer *to, uint32_t count, uint64_t *random, uint32_t root_count) {
  reference_graph *graph = to->graph;
  uint32_t attached = count - count / 100;
  uint32_t *owner = malloc((size_t)count * 4);
  uint32_t *first = calloc((size_t)count + 1, 4);
  uint32_t *owned = malloc((size_t)count * 4);
  uint32_t *next = malloc((size_t)count * 4);
  if (!owner || !first || !owned || !next) {
    to->failed = true;
    goto end;
  }
  // Most objects are made soon after their owner.
  for (uint32_t node = root_count; node < attached; node++) {
    double choice = unit(random);
    uint32_t back = (uint32_t)(pow(unit(random), 2) * 4096) + 1;
    if (choice < 0.25)
      owner[node] = node - 1;
    else if (choice < 0.95 && back < node)
      owner[node] = node - back;
    else
      owner[node] = (uint32_t)(next_random(random) % node);
    first[owner[node] + 1]++;
  }
  for (uint32_t node = 0; node < count; node++)
    first[node + 1] += first[node];
  memcpy(next, first, (size_t)count * 4);
  for (uint32_t node = root_count; node < attached; node++)
    owned[next[owner[node]]++] = node;
  for (uint32_t node = 0; node < attached; node++) {
    graph->offsets[node] = graph->edge_count;
    for (uint32_t place = first[node]; place < first[node + 1]; place++)
      add(to, owned[place]);
    if (node >= root_count && node - owner[node] < 64 && unit(random) < 0.1)
      add(to, owner[node]);
    while (unit(random) < 0.38) {
      uint32_t far = node + (uint32_t)(pow(unit(random), 2) * 200) + 1;
      add(to, far < attached ? far : node);
    }
    while (unit(random) < 0.46)
      add(to, (uint32_t)(pow(unit(random), 4) * (attached / 50)));
  }
  for (uint32_t node = attached; node < count;) {
    uint32_t ring = 2 + (uint32_t)(next_random(random) % 5);
    if (node + ring > count)
      ring = count - node;
    for (uint32_t place = 0; place < ring; place++) {
      graph->offsets[node + place] = graph->edge_count;
      add(to, node + (place + 1) % ring);
      if (unit(random) < 0.5)
        add(to, (uint32_t)(next_random(random) % attached));
    }
    node += ring;
  }
end:
  free(owner);
  free(first);
  free(owned);
  free(next);
}

static void power(writer *to, uint32_t count, uint64_t *random) {
  for (uint32_t node = 0; node < count; node++) {
    to->graph->offsets[node] = to->graph->edge_count;
    for (int degree = 0; degree < 64 && unit(random) < 2.5 / 3.5; degree++) {
      uint64_t rank = (uint64_t)(pow(unit(random), 3) * count);
      add(to, (uint32_t)(rank * 2654435761u % count));
    }
  }
}

static void chain(writer *to, uint32_t count, uint64_t *random) {
  for (uint32_t node = 0; node < count; node++) {
    to->graph->offsets[node] = to->graph->edge_count;
    if (node + 1 < count)
      add(to, node + 1);
    if (node > 0)
      add(to, node - 1);
    if (unit(random) < 0.5)
      add(to, (uint32_t)(next_random(random) % (node + 1)));
  }
}

static void star(writer *to, uint32_t count, uint64_t *random) {
  for (uint32_t node = 0; node < count; node++) {
    to->graph->offsets[node] = to->graph->edge_count;
    for (uint32_t other = 1; node == 0 && other < count; other++)
      add(to, other);
    if (node > 0)
      add(to, 0);
    if (unit(random) < 0.5)
      add(to, (uint32_t)(next_random(random) % count));
  }
}

bool reference_generate(const char *shape, uint32_t count, uint64_t seed, reference_graph *graph,
                        uint32_t **roots, uint32_t *root_count) {
  uint64_t random = seed * 0x9E3779B97F4A7C15ull + 1;
  memset(graph, 0, sizeof *graph);
  graph->node_count = count;
  graph->offsets = malloc(((size_t)count + 1) * 4);
  writer to = {graph, 0, !graph->offsets || count < 1000};
  bool is_list = !strcmp(shape, "chain") || !strcmp(shape, "star");
  *root_count = is_list ? 1 : 200;
  *roots = malloc((size_t)*root_count * 4);
  if (to.failed || !*roots)
    return false;
  if (!strcmp(shape, "heap"))
    heap(&to, count, &random, *root_count);
  else if (!strcmp(shape, "power"))
    power(&to, count, &random);
  else if (!strcmp(shape, "chain"))
    chain(&to, count, &random);
  else if (!strcmp(shape, "star"))
    star(&to, count, &random);
  else
    return false;
  graph->offsets[count] = graph->edge_count;
  for (uint32_t root = 0; root < *root_count; root++)
    (*roots)[root] =
        !strcmp(shape, "power") ? (uint32_t)((uint64_t)root * 2654435761u % count) : root;
  return !to.failed;
}

void reference_free(reference_graph *graph) {
  free(graph->offsets);
  free(graph->targets);
  memset(graph, 0, sizeof *graph);
}
