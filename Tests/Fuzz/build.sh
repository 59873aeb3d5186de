#!/usr/bin/env bash
# Builds the fuzzers, with coverage and the address sanitizer in all of the project's code that they reach:
#
#     Tests/Fuzz/build.sh FOLDER        FOLDER/FuzzSnapshot, FuzzReport, FuzzCore, FuzzELF, FuzzJSON
#
# Modules that are there already and newer than their sources are kept.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
cd "$1"

flags=(
  -O -wmo -parse-as-library -package-name memory_graph -enable-testing -swift-version 6 -I .
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature MemberImportVisibility -sanitize=fuzzer,address
)
for library in CZlib CLibdw; do flags+=(-Xcc "-fmodule-map-file=$root/Sources/$library/module.modulemap"); done
for target in CHeapCapture CMemoryGraphLayout; do
  mkdir -p "$target"
  {
    echo "module $target {"
    for header in "$root/Sources/$target/include"/*.h; do echo "  header \"$header\""; done
    echo "  export *"
    echo "}"
  } >"$target/module.modulemap"
  flags+=(-Xcc "-fmodule-map-file=$PWD/$target/module.modulemap")
done

modules=(GraphPrimitives SnapshotFormat GraphKit HeapGraph GraphAnalysis HeapCapture Symbolication GraphReport GraphViewer Commands)
objects=()
for module in "${modules[@]}"; do
  objects+=("$module.o")
  if [[ -e $module.o && -z $(find "$root/Sources/$module" -newer "$module.o" -name '*.swift' -print -quit) ]]; then continue; fi
  mapfile -d '' -t sources < <(find "$root/Sources/$module" -name '*.swift' -print0 | sort -z)
  swiftc "${flags[@]}" -emit-module -emit-object -module-name "$module" "${sources[@]}" -o "$module.o" \
    -emit-module-path "$module.swiftmodule"
done

for file in "$root"/Sources/CHeapCapture/*.c "$root"/Sources/CMemoryGraphLayout/*.c; do
  object=$(basename "$file").o
  clang -O1 -g -fsanitize=address,fuzzer-no-link -I "$root/Sources/CHeapCapture/include" \
    -I "$root/Sources/CMemoryGraphLayout/include" -c "$file" -o "$object"
  objects+=("$object")
done

for fuzzer in FuzzSnapshot FuzzReport FuzzCore FuzzELF FuzzJSON; do
  extra=()
  if [[ $fuzzer == FuzzCore ]]; then extra=("$root/Tests/HeapCaptureTests/CoreWriter.swift"); fi
  swiftc "${flags[@]}" -module-name "$fuzzer" "$root/Tests/Fuzz/$fuzzer.swift" "$root/Tests/Fuzz/FuzzFile.swift" "${extra[@]}" \
    "${objects[@]}" -ldw -lelf -lz -o "$fuzzer" 2> >(grep -v 'Cannot export local symbol' >&2 || true)
done
