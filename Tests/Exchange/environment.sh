# Sourced by scripts that hold what we write against others' schemas and readers: makes the Python environment.
# shellcheck shell=bash

# The package whose sources have the schema of Jenkins's xUnit plugin among their own tests.
xunit_schema_source=pytest==9.2.0
xunit_schema=testing/example_scripts/junit-10.xsd

# The interpreter of an environment with what requirements.txt names, made where it is not there or is of other versions.
# Beside it lies `junit.xsd`.
exchange_python() {
  local folder=.build/exchange stamp
  stamp=$folder/requirements.txt
  if ! cmp --silent Tests/Exchange/requirements.txt "$stamp"; then
    rm -rf "$folder"
    python3 -m venv "$folder" >&2
    "$folder/bin/pip" install --quiet --disable-pip-version-check --requirement Tests/Exchange/requirements.txt >&2
    "$folder/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary pytest \
      --dest "$folder/sources" "$xunit_schema_source" >&2
    tar --extract --gzip --file "$folder"/sources/*.tar.gz --to-stdout --wildcards "*/$xunit_schema" \
      >"$folder/junit.xsd"
    cp Tests/Exchange/requirements.txt "$stamp"
  fi
  echo "$folder/bin/python"
}
