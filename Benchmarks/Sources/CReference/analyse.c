// analyse.c: shortest paths, components and dominators, without recursion.

#include "reference.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static uint32_t *column(uint32_t count) {
  return malloc(((size_t)count + 1) * 4);
}

static uint32_t *filled(uint32_t count, int byte) {
  uint32_t *made = column(count);
  if (made)
    memset(made, byte, ((size_t)count + 1) * 4);
  return made;
}

bool reference_transpose(const reference_graph *graph, reference_graph *back) {
  uint32_t count = graph->node_count;
  *back = (reference_graph){count, graph->edge_count, filled(count, 0), column(graph->edge_count)};
  uint32_t *next = column(count);
  if (!back->offsets || !back->targets || !next) {
    free(next);
    return false;
  }
  for (uint32_t edge = 0; edge < graph->edge_count; edge++)
    back->offsets[graph->targets[edge] + 1]++;
  for (uint32_t node = 0; node < count; node++)
    back->offsets[node + 1] += back->offsets[node];
  memcpy(next, back->offsets, (size_t)count * 4);
  for (uint32_t node = 0; node < count; node++)
    for (uint32_t edge = graph->offsets[node]; edge < graph->offsets[node + 1]; edge++)
      back->targets[next[graph->targets[edge]]++] = node;
  free(next);
  return true;
}

uint32_t reference_breadth_first(const reference_graph *graph, const uint32_t *roots,
                                 uint32_t root_count, uint32_t *parents) {
  uint32_t count = graph->node_count;
  uint32_t *queue = column(count);
  uint8_t *seen = calloc((size_t)count + 1, 1);
  uint32_t reached = NONE;
  if (queue && seen) {
    memset(parents, 0xff, (size_t)count * 4);
    uint32_t end = 0;
    for (uint32_t root = 0; root < root_count; root++)
      if (!seen[roots[root]]) {
        seen[roots[root]] = 1;
        queue[end++] = roots[root];
      }
    for (uint32_t start = 0; start < end; start++) {
      uint32_t node = queue[start];
      for (uint32_t edge = graph->offsets[node]; edge < graph->offsets[node + 1]; edge++) {
        uint32_t to = graph->targets[edge];
        if (seen[to])
          continue;
        seen[to] = 1;
        parents[to] = node;
        queue[end++] = to;
      }
    }
    reached = end;
  }
  free(queue);
  free(seen);
  return reached;
}

uint32_t reference_components(const reference_graph *graph, uint32_t *components) {
  uint32_t count = graph->node_count;
  uint32_t *index = filled(count, 0);
  uint32_t *low = column(count);
  uint32_t *next = column(count);
  uint32_t *path = column(count);
  uint32_t *open = column(count);
  uint32_t found = 0;
  if (!index || !low || !next || !path || !open) {
    found = NONE;
    goto end;
  }
  uint32_t seen = 0, depth = 0, open_count = 0;
  for (uint32_t start = 0; start < count; start++) {
    if (index[start])
      continue;
    path[depth++] = start;
    while (depth) {
      uint32_t node = path[depth - 1];
      if (!index[node]) {
        index[node] = low[node] = ++seen;
        next[node] = graph->offsets[node];
        open[open_count++] = node;
      }
      uint32_t child = NONE;
      while (next[node] < graph->offsets[node + 1]) {
        uint32_t to = graph->targets[next[node]++];
        if (!index[to]) {
          child = to;
          break;
        }
        if (index[to] < low[node])
          low[node] = index[to];
      }
      if (child != NONE) {
        path[depth++] = child;
        continue;
      }
      depth--;
      if (depth && low[node] < low[path[depth - 1]])
        low[path[depth - 1]] = low[node];
      if (low[node] != index[node])
        continue;
      uint32_t member;
      do {
        member = open[--open_count];
        components[member] = found;
        index[member] = NONE; // complete: no minimum picks it
      } while (member != node);
      found++;
    }
  }
end:
  free(index);
  free(low);
  free(next);
  free(path);
  free(open);
  return found;
}

/// A depth-first search that goes on where it stopped.
typedef struct {
  const reference_graph *graph;
  uint32_t *number; // of each node, in preorder; NONE where it was not reached
  uint32_t *parent;
  uint32_t *next;
  uint32_t *path;
  uint32_t *preorder;
  uint32_t seen;
  uint32_t *postorder; // or NULL
  uint32_t left;
} search;

static bool search_start(search *self, const reference_graph *graph, bool has_postorder) {
  uint32_t count = graph->node_count;
  *self = (search){graph,
                   filled(count, 0xff),
                   filled(count, 0xff),
                   column(count),
                   column(count),
                   column(count),
                   0,
                   has_postorder ? column(count) : NULL,
                   0};
  return self->number && self->parent && self->next && self->path && self->preorder &&
         (!has_postorder || self->postorder);
}

static void search_end(search *self) {
  free(self->number);
  free(self->parent);
  free(self->next);
  free(self->path);
  free(self->preorder);
  free(self->postorder);
}

/// Whether the node was not reached before.
static bool search_from(search *self, uint32_t start) {
  const reference_graph *graph = self->graph;
  if (self->number[start] != NONE)
    return false;
  uint32_t depth = 0;
  self->path[depth++] = start;
  self->number[start] = self->seen;
  self->preorder[self->seen++] = start;
  self->next[start] = graph->offsets[start];
  while (depth) {
    uint32_t node = self->path[depth - 1];
    uint32_t edge = self->next[node];
    uint32_t end = graph->offsets[node + 1];
    while (edge < end && self->number[graph->targets[edge]] != NONE)
      edge++;
    self->next[node] = edge + 1;
    if (edge == end) {
      depth--;
      if (self->postorder)
        self->postorder[self->left++] = node;
      continue;
    }
    uint32_t child = graph->targets[edge];
    self->number[child] = self->seen;
    self->parent[child] = node;
    self->preorder[self->seen++] = child;
    self->next[child] = graph->offsets[child];
    self->path[depth++] = child;
  }
  return true;
}

/// Goes on by one node of each component that nothing else leads to: the last one that a search leaves lies in such a
/// component, and so does the last one left among those that it does not reach, and so on.
static bool search_rest(search *self, uint8_t *is_entry) {
  uint32_t count = self->graph->node_count;
  if (self->seen == count)
    return true;
  search all;
  bool works = search_start(&all, self->graph, true);
  if (works) {
    // What the roots reach is not gone into again.
    for (uint32_t place = 0; place < self->seen; place++)
      all.number[self->preorder[place]] = 0;
    for (uint32_t node = 0; node < count; node++)
      search_from(&all, node);
    for (uint32_t place = all.left; place-- > 0;)
      if (search_from(self, all.postorder[place]))
        is_entry[all.postorder[place]] = 1;
  }
  search_end(&all);
  return works;
}

bool reference_dominators(const reference_graph *graph, const reference_graph *back,
                          const uint32_t *roots, uint32_t root_count, uint32_t *dominators,
                          uint32_t *order) {
  uint32_t count = graph->node_count;
  search found;
  uint8_t *is_entry = calloc((size_t)count + 1, 1);
  // By number in preorder plus one; 0 is the world outside.
  uint32_t *ancestor = column(count), *dominator = column(count), *best = column(count),
           *semi = column(count), *stack = column(count);
  bool works = search_start(&found, graph, false) && is_entry && ancestor && dominator && best &&
               semi && stack;
  if (works) {
    for (uint32_t root = 0; root < root_count; root++) {
      search_from(&found, roots[root]);
      is_entry[roots[root]] = 1;
    }
    works = search_rest(&found, is_entry);
  }
  if (!works)
    goto end;
  ancestor[0] = dominator[0] = best[0] = semi[0] = 0;
  for (uint32_t number = 1; number <= count; number++) {
    uint32_t parent = found.parent[found.preorder[number - 1]];
    ancestor[number] = dominator[number] = parent == NONE ? 0 : found.number[parent] + 1;
    best[number] = semi[number] = number;
  }
  for (uint32_t number = count; number >= 1; number--) {
    uint32_t node = found.preorder[number - 1];
    uint32_t least = is_entry[node] ? 0 : ancestor[number];
    uint32_t last = number + 1;
    for (uint32_t edge = back->offsets[node]; edge < back->offsets[node + 1]; edge++) {
      uint32_t from = found.number[back->targets[edge]] + 1;
      if (ancestor[from] >= last) {
        uint32_t depth = 0;
        uint32_t walk = from;
        do {
          stack[depth++] = walk;
          walk = ancestor[walk];
        } while (ancestor[walk] >= last);
        uint32_t above = walk;
        uint32_t above_best = best[above];
        do {
          walk = stack[--depth];
          ancestor[walk] = ancestor[above];
          if (semi[above_best] < semi[best[walk]])
            best[walk] = best[above];
          else
            above_best = best[walk];
          above = walk;
        } while (depth);
      }
      if (semi[best[from]] < least)
        least = semi[best[from]];
    }
    semi[number] = least;
  }
  for (uint32_t number = 1; number <= count; number++) {
    uint32_t candidate = dominator[number];
    while (candidate > semi[number])
      candidate = dominator[candidate];
    dominator[number] = candidate;
    dominators[found.preorder[number - 1]] = candidate ? found.preorder[candidate - 1] : count;
  }
  memcpy(order, found.preorder, (size_t)count * 4);
end:
  search_end(&found);
  free(is_entry);
  free(ancestor);
  free(dominator);
  free(best);
  free(semi);
  free(stack);
  return works;
}

void reference_retained(uint32_t count, const uint32_t *dominators, const uint32_t *order,
                        uint64_t *sizes) {
  for (uint32_t place = count; place-- > 0;) {
    uint32_t node = order[place];
    if (dominators[node] < count)
      sizes[dominators[node]] += sizes[node];
  }
}
