"""Where the questions are asked: DuckDB in this process, or Apache Spark here or on a cluster.

An engine has `lines` and `parameters` as tables and runs SQL. Which SQL that is it does not know. `load` and `set` may be called again.
"""

import json
import os
import sys
import tempfile

import records


class EngineError(Exception):
    """The engine can't be used, with what to do about it."""


class DuckDB:
    """One process, no server; all processors of the machine."""

    name = "duckdb"

    def __init__(self):
        import duckdb

        self._connection = duckdb.connect()
        # The files are read here; the engine needs no other, and must not fetch anything.
        self._connection.execute("SET autoinstall_known_extensions = false")

    def load(self, folder, first_day="", last_day=""):
        """Reads a folder of records; returns how many lines there are, damaged ones too."""
        columns = ", ".join(
            f"{name}: '{'BIGINT' if is_number else 'VARCHAR'}'" for name, is_number in records.COLUMNS
        )
        names = [name for name, _ in records.COLUMNS]
        with tempfile.TemporaryDirectory(prefix="fleet-") as work:
            path = os.path.join(work, "lines.json")
            count = 0
            with open(path, "w", encoding="ascii") as file:
                for row in records.read(folder, first_day, last_day):
                    file.write(json.dumps(dict(zip(names, row))) + "\n")
                    count += 1
            self._connection.execute(
                "CREATE OR REPLACE TABLE lines AS SELECT * FROM read_json("
                f"$path, format = 'newline_delimited', columns = {{{columns}}}, maximum_object_size = 536870912)",
                {"path": path},
            )
        return count

    def set(self, parameters):
        """Sets what the questions take: texts by name."""
        marks = ", ".join("?" for _ in parameters)
        fields = ", ".join(f"{name} VARCHAR" for name in parameters)
        self._connection.execute(f"CREATE OR REPLACE TABLE parameters ({fields})")
        self._connection.execute(f"INSERT INTO parameters VALUES ({marks})", list(parameters.values()))

    def run(self, sql):
        """The rows that a statement gives, as tuples; none for one that gives none."""
        return self._connection.execute(sql).fetchall()

    def close(self):
        self._connection.close()


class Spark:
    """Apache Spark: on this machine, or on the cluster that `spark-submit` or --master names."""

    name = "spark"

    def __init__(self, master=None):
        self._lines = None
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise EngineError(
                "PySpark is not there; scripts/fleet --engine spark installs it, spark-submit brings its own"
            ) from None
        # Where workers run on this machine, they are this interpreter.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = (
            SparkSession.builder.appName("memory-graph fleet")
            .config("spark.ui.showConsoleProgress", "false")
            # Records are small: many go into a piece of work.
            .config("spark.sql.files.openCostInBytes", "65536")
            # Folders are named after days, which are texts to us.
            .config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        )
        if master or "SPARK_ENV_LOADED" not in os.environ:
            builder = builder.master(master or "local[*]").config("spark.ui.enabled", "false")
            builder = builder.config("spark.sql.shuffle.partitions", str(max(2, os.cpu_count() or 2)))
            builder = builder.config("spark.driver.host", "localhost")
        try:
            self._session = builder.getOrCreate()
        except Exception as error:
            raise EngineError(f"Spark does not start: {error}; it needs Java 17 or later") from None
        self._session.sparkContext.setLogLevel("ERROR")
        self._session.sparkContext.addPyFile(records.__file__)

    def load(self, folder, first_day="", last_day=""):
        """Reads a folder of records, a path or a URL; returns how many lines there are, damaged ones too."""
        from pyspark import StorageLevel
        from pyspark.errors import AnalysisException
        from pyspark.sql import functions
        from pyspark.sql.types import LongType, StringType, StructField, StructType

        session = self._session
        schema = StructType(
            [StructField(name, LongType() if is_number else StringType()) for name, is_number in records.COLUMNS]
        )
        if "://" not in folder:
            folder = "file://" + os.path.abspath(folder)
        digit = "[0-9]"
        days = f"{folder}/date={digit * 4}-{digit * 2}-{digit * 2}"
        files = session.read.format("binaryFile").option("basePath", folder).option("pathGlobFilter", "*.jsonl")
        try:
            found = files.load(days)
        except AnalysisException as error:
            if error.getCondition() != "PATH_NOT_FOUND":
                raise
            lines, names = session.createDataFrame([], schema), []
        else:
            names = [records.name_of_url(url) for url in found.inputFiles()]
            names = [name for name in names if records.is_of_days(name, first_day, last_day)]
            if first_day:
                found = found.where(functions.col("date") >= first_day)
            if last_day:
                found = found.where(functions.col("date") <= last_day)
            is_small = functions.col("length") <= records.LARGEST_FILE
            # What is too large is not even read.
            small = found.where(is_small).select("path", "content").rdd.flatMap(records.rows_of_url)
            large = found.where(~is_small).select("path").rdd.map(records.row_of_large_url)
            lines = session.createDataFrame(small.union(large), schema)
        if self._lines:
            self._lines.unpersist()
        lines = lines.persist(StorageLevel.MEMORY_AND_DISK)
        # Spark gives no work for a file without a byte, so those are told here.
        known = {row["file"] for row in lines.select("file").distinct().collect()}
        empty = [records.problem_row(name, records.EMPTY) for name in sorted(set(names) - known)]
        if empty:
            lines = lines.union(session.createDataFrame(empty, schema)).persist(StorageLevel.MEMORY_AND_DISK)
        self._lines = lines
        lines.createOrReplaceTempView("lines")
        return lines.count()

    def set(self, parameters):
        """Sets what the questions take: texts by name."""
        from pyspark.sql.types import StringType, StructField, StructType

        schema = StructType([StructField(name, StringType()) for name in parameters])
        self._session.createDataFrame([tuple(parameters.values())], schema).createOrReplaceTempView("parameters")

    def run(self, sql):
        """The rows that a statement gives, as tuples; none for one that gives none."""
        return [tuple(row) for row in self._session.sql(sql).collect()]

    def close(self):
        self._session.stop()

