// reference.h: a plain C analysis of object graphs, the yardstick for the one in Swift.

#pragma once

#include <stdbool.h>
#include <stdint.h>

/// A directed graph as two columns: the successors of node v are targets[offsets[v] .. offsets[v + 1]).
typedef struct {
  uint32_t node_count;
  uint32_t edge_count;
  uint32_t *offsets;
  uint32_t *targets;
} reference_graph;

/// Makes a graph that is the same for the same arguments.
///
/// Shapes: "heap" (a forest of owners with local and popular references, references back, and 1 % of loose rings), "power"
/// (targets by a power law), "chain" (one list that is linked both ways), "star" (one node that holds all, and is held by all).
///
/// \returns Whether there is memory for it and the shape is known.
bool reference_generate(const char *shape, uint32_t node_count, uint64_t seed,
                        reference_graph *graph, uint32_t **roots, uint32_t *root_count);

/// The graph with each edge turned round.
bool reference_transpose(const reference_graph *graph, reference_graph *result);

/// The nodes of shortest paths: of each node the one before it; UINT32_MAX for roots and what none reaches.
///
/// \returns How many nodes are reached, UINT32_MAX where there is no memory.
uint32_t reference_breadth_first(const reference_graph *graph, const uint32_t *roots,
                                 uint32_t root_count, uint32_t *parents);

/// Strongly connected components, after Tarjan (1972).
///
/// \returns Their number, UINT32_MAX where there is no memory.
uint32_t reference_components(const reference_graph *graph, uint32_t *components);

/// Immediate dominators by semi-NCA (Georgiadis, 2005), what no root reaches entered by one node a source component.
///
/// \param dominators Of each node; node_count stands for the world outside.
/// \param order All nodes, each after its dominator.
bool reference_dominators(const reference_graph *graph, const reference_graph *back,
                          const uint32_t *roots, uint32_t root_count, uint32_t *dominators,
                          uint32_t *order);

/// The sizes of each node and all that it dominates, added up.
void reference_retained(uint32_t node_count, const uint32_t *dominators, const uint32_t *order,
                        uint64_t *sizes);

void reference_free(reference_graph *graph);
