// Reads a heap dump with VisualVM's own heap library, and tells what that finds: a line of fields with tabs between them for each
// class, object, reference and root, then for each number that was given who VisualVM says holds the object, and its way to a root.
//
//     java -cp JAR HeapReader.java DUMP [NUMBER...]

import java.io.File;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.io.FileDescriptor;
import java.util.Iterator;
import org.graalvm.visualvm.lib.jfluid.heap.ArrayItemValue;
import org.graalvm.visualvm.lib.jfluid.heap.FieldValue;
import org.graalvm.visualvm.lib.jfluid.heap.GCRoot;
import org.graalvm.visualvm.lib.jfluid.heap.Heap;
import org.graalvm.visualvm.lib.jfluid.heap.HeapFactory;
import org.graalvm.visualvm.lib.jfluid.heap.Instance;
import org.graalvm.visualvm.lib.jfluid.heap.JavaClass;
import org.graalvm.visualvm.lib.jfluid.heap.ObjectArrayInstance;
import org.graalvm.visualvm.lib.jfluid.heap.ObjectFieldValue;
import org.graalvm.visualvm.lib.jfluid.heap.Value;

public class HeapReader {
  private static PrintStream out;

  private static void tell(Object... fields) {
    StringBuilder line = new StringBuilder();
    for (Object field : fields) {
      if (line.length() > 0) line.append('\t');
      line.append(String.valueOf(field).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r"));
    }
    out.print(line.append('\n'));
  }

  private static void tellReferences(Instance object) {
    if (object instanceof ObjectArrayInstance) {
      int index = 0;
      for (Object element : ((ObjectArrayInstance) object).getValues()) {
        if (element != null) tell("element", object.getInstanceId(), index, ((Instance) element).getInstanceId());
        index++;
      }
      return;
    }
    for (FieldValue value : object.getFieldValues()) {
      String name = value.getField().getName();
      if (!(value instanceof ObjectFieldValue)) {
        tell("number", object.getInstanceId(), name, value.getValue());
      } else if (((ObjectFieldValue) value).getInstance() != null) {
        tell("field", object.getInstanceId(), name, ((ObjectFieldValue) value).getInstance().getInstanceId());
      }
    }
  }

  private static void tellHolders(Instance object) {
    for (Value value : object.getReferences()) {
      boolean isField = value instanceof FieldValue;
      boolean isStatic = isField && ((FieldValue) value).getField().isStatic();
      tell(isStatic ? "heldByRoot" : "heldBy", object.getInstanceId(),
          isField ? ((FieldValue) value).getField().getName() : ((ArrayItemValue) value).getIndex(),
          isStatic ? ((FieldValue) value).getField().getDeclaringClass().getName() : value.getDefiningInstance().getInstanceId());
    }
    // The next object of the way, until one that a root holds is the next of itself.
    Instance place = object;
    while (place != null) {
      tell("way", object.getInstanceId(), place.getInstanceId(), place.getJavaClass().getName(), place.isGCRoot());
      Instance next = place.getNearestGCRootPointer();
      if (next == null || next.getInstanceId() == place.getInstanceId()) break;
      place = next;
    }
    tell("retains", object.getInstanceId(), object.getRetainedSize());
  }

  public static void main(String[] words) throws Exception {
    out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
    Heap heap = HeapFactory.createHeap(new File(words[0]));
    for (JavaClass type : heap.getAllClasses()) {
      tell("class", type.getJavaClassId(), type.getName(), type.isArray(), type.getInstancesCount(), type.getInstanceSize());
      for (FieldValue value : type.getStaticFieldValues()) {
        if (value instanceof ObjectFieldValue && ((ObjectFieldValue) value).getInstance() != null) {
          tell("static", type.getName(), value.getField().getName(), ((ObjectFieldValue) value).getInstance().getInstanceId());
        }
      }
    }
    for (GCRoot root : heap.getGCRoots()) {
      tell("root", root.getKind(), root.getInstance() == null ? 0 : root.getInstance().getInstanceId());
    }
    for (Iterator<Instance> objects = heap.getAllInstancesIterator(); objects.hasNext();) {
      Instance object = objects.next();
      if (object.getJavaClass().getName().equals("java.lang.Class")) continue;
      tell("object", object.getInstanceId(), object.getJavaClass().getName(), object.getSize());
      tellReferences(object);
    }
    for (int word = 1; word < words.length; word++) tellHolders(heap.getInstanceByID(Long.parseLong(words[word])));
    out.flush();
  }
}
