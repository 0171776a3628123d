"""Files as pubplan writes them: directories that are whole or absent, JSON documents, digests of contents."""

from __future__ import annotations

from pubplan.files.digests import digest_blocks, digest_table, digest_value
from pubplan.files.directories import OwnedDirectory, atomic_directory, check_disjoint, check_free, check_free_file
from pubplan.files.documents import (
    canonical_json,
    file_sha256,
    read_json_object,
    temporary_name,
    write_bytes,
    write_json,
    write_text,
)
from pubplan.files.incomplete import discard_unfinished, finished_directories, unfinished

__all__ = [
    "OwnedDirectory",
    "atomic_directory",
    "canonical_json",
    "check_disjoint",
    "check_free",
    "check_free_file",
    "digest_blocks",
    "digest_table",
    "digest_value",
    "discard_unfinished",
    "file_sha256",
    "finished_directories",
    "read_json_object",
    "temporary_name",
    "unfinished",
    "write_bytes",
    "write_json",
    "write_text",
]
