# Sourced by scripts that look at pages in a browser: makes the Python environment and names its interpreter.
# shellcheck shell=bash

# The interpreter of an environment with what requirements.txt names, made where it is not there or is of other versions.
browser_python() {
  local folder=.build/browser stamp
  stamp=$folder/requirements.txt
  if ! cmp --silent Tests/Browser/requirements.txt "$stamp"; then
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    "$folder/bin/pip" install --quiet --disable-pip-version-check --requirement Tests/Browser/requirements.txt >&2
    cp Tests/Browser/requirements.txt "$stamp"
  fi
  echo "$folder/bin/python"
}

# Writes the pages that tests look at into a folder, which is emptied. The tests must have been built.
write_viewer_pages() {
  local folder=$1 log=$1/swift.log
  rm -rf "$folder"
  mkdir -p "$folder"
  if ! VIEWER_PAGES=$folder swift test --skip-build --filter ViewerPagesTests >"$log" 2>&1; then
    cat "$log" >&2
    echo "the pages could not be written; \`swift build --build-tests\` comes first" >&2
    return 1
  fi
}
