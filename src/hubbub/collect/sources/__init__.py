"""Where events come from: files, followed logs, a queue, brokers."""

from hubbub.collect.sources.access_log import AccessLog
from hubbub.collect.sources.csv_lines import CsvLines
from hubbub.collect.sources.document_file import DocumentFile
from hubbub.collect.sources.event_file import event_file
from hubbub.collect.sources.followed_file import FollowedFile
from hubbub.collect.sources.json_lines import JsonLines
from hubbub.collect.sources.kafka_source import KafkaSource
from hubbub.collect.sources.line_file import LineFile
from hubbub.collect.sources.nats_source import NatsSource
from hubbub.collect.sources.parquet_file import ParquetFile

__all__ = [
    "AccessLog", "CsvLines", "DocumentFile", "FollowedFile", "JsonLines", "KafkaSource", "LineFile", "NatsSource",
    "ParquetFile", "event_file",
]  # fmt: skip
