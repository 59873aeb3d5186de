# Sourced by scripts that open exports in other people's tools: makes the Python environment and the recording.
# shellcheck shell=bash

# The interpreter of an environment with what requirements.txt names, made where it is not there or is of other versions.
exports_python() {
  local folder=.build/exports stamp
  stamp=$folder/requirements.txt
  if ! cmp --silent Tests/Exports/requirements.txt "$stamp"; then
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    "$folder/bin/pip" install --quiet --disable-pip-version-check --requirement Tests/Exports/requirements.txt >&2
    cp Tests/Exports/requirements.txt "$stamp"
  fi
  echo "$folder/bin/python"
}

# Fails, and says how to mend it, where a tool that the tests open exports in is not here.
need_tools() {
  local tool missing=0
  for tool in "$@"; do
    command -v "$tool" >/dev/null && continue
    echo "test-export: $tool is missing; \`scripts/setup --checks\` installs it" >&2
    missing=1
  done
  return $missing
}
