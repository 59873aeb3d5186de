"""Traces by Perfetto's own definitions, as its Python package has them."""

import collections

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as definitions

from exports import ExportTest, export, memgraph, rows


class PerfettoTest(ExportTest):
    @classmethod
    def setUpClass(cls):
        path = export("calls.perfetto-trace", "call-1.mgraph", "call-5.mgraph")
        cls.trace = definitions.Trace.FromString(path.read_bytes())
        cls.graphs = [
            [packet.heap_graph for packet in cls.trace.packet
             if packet.HasField("heap_graph") and packet.trusted_packet_sequence_id == sequence]
            for sequence in (1, 2)]

    def test_nothing_is_unknown(self):
        """What the definitions don't know would come back when it is written again, in another order: so it is the same size."""
        path = export("calls.perfetto-trace", "call-1.mgraph", "call-5.mgraph")
        self.assertEqual(self.trace.ByteSize(), len(path.read_bytes()))
        self.trace.DiscardUnknownFields()
        self.assertEqual(self.trace.ByteSize(), len(path.read_bytes()))

    def test_packets(self):
        """Packets of a graph follow each other, and the last one says that it is."""
        for packets in self.graphs:
            self.assertEqual([packet.index for packet in packets], list(range(len(packets))))
            self.assertEqual([packet.continued for packet in packets], [True] * (len(packets) - 1) + [False])
        times = [packet.timestamp for packet in self.trace.packet]
        self.assertEqual(times, sorted(times))
        self.assertEqual(len(set(times)), 2)
        process = self.trace.packet[0].process_tree.processes[0]
        self.assertTrue(process.cmdline[0].endswith("VideoCall"))

    def test_objects_and_references(self):
        """Every object, and every reference that holds, with their names."""
        for number, packets in enumerate(self.graphs, 1):
            types = {type_.id: type_.class_name for packet in packets for type_ in packet.types}
            fields = {field.iid: field.str.decode() for packet in packets for field in packet.field_names}
            objects = {object_.id: object_ for packet in packets for object_ in packet.objects}
            found = collections.Counter((types[o.type_id], o.self_size) for o in objects.values())
            wanted = collections.Counter(
                rows("SELECT type, bytes FROM object_list WHERE snapshot_id = ?", number))
            self.assertEqual(found, wanted)
            edges = collections.Counter()
            for o in objects.values():
                self.assertEqual(len(o.reference_field_id), len(o.reference_object_id))
                for field, target in zip(o.reference_field_id, o.reference_object_id):
                    edges[types[o.type_id], fields[field].split(" (")[0], types[objects[target].type_id]] += 1
            wanted = collections.Counter()
            for holder, field, target, count in rows(
                    "SELECT holder, field, held.type, count(*) FROM retainers JOIN object_list held "
                    "ON held.id = object_id WHERE snapshot_id = ? AND holds AND holder_id IS NOT NULL "
                    "GROUP BY 1, 2, 3", number):
                wanted[holder, field or "?", target] += count
            # A function alone stands in parentheses.
            edges = collections.Counter({(a, b if b else "?", c): n for (a, b, c), n in edges.items()})
            self.assertEqual(edges, wanted)

    def test_reachable(self):
        """From the roots on just what the analysis calls reachable is reached."""
        packets = self.graphs[1]
        targets = {o.id: list(o.reference_object_id) for packet in packets for o in packet.objects}
        pending = [number for packet in packets for root in packet.roots for number in root.object_ids]
        seen = set(pending)
        while pending:
            for target in targets[pending.pop()]:
                if target not in seen:
                    seen.add(target)
                    pending.append(target)
        first = rows("SELECT min(id) FROM objects WHERE snapshot_id = 2")[0][0]
        wanted = rows("SELECT id FROM objects WHERE snapshot_id = 2 AND is_reachable")
        self.assertEqual(sorted(seen), [number - first + 1 for (number,) in wanted])
        self.assertLess(len(seen), len(targets))

    def test_loss_is_told(self):
        call = memgraph("export", "call-5.mgraph", "-o", "told.perfetto-trace")
        weak = rows("SELECT count(*) FROM edges JOIN fields ON fields.id = field_id JOIN objects ON objects.id = source_id "
                    "WHERE snapshot_id = 2 AND NOT holds")[0][0]
        self.assertEqual(call.stderr.count("\n"), 1)
        self.assertIn(f"strong references only: {weak} other", call.stderr)
