"""`runtime.blobs`: reads mounted blobs and creates new ones."""

from __future__ import annotations

import builtins
import os

from calls import BlobError

# Methods shadow these names.
_open = builtins.open
_list = builtins.list


class Blobs:
    """Blob ids are accepted with or without `blob:`."""

    def __init__(self, mounted: _list, directory: str, calls):
        self._mounted = {one["id"]: dict(one) for one in mounted}
        self._directory = directory
        self._calls = calls

    def list(self) -> _list:
        """All mounted blobs as `{"id", "kind", "size_bytes"}`."""
        return [dict(info) for info in self._mounted.values()]

    def info(self, blob_id: str) -> dict:
        """`{"id", "kind", "size_bytes"}` of a blob."""
        return dict(self._find(blob_id))

    def path(self, blob_id: str) -> str:
        """The path of the mounted blob, read-only."""
        return f"/blobs/{self._find(blob_id)['id']}"

    def open(self, blob_id: str, mode: str = "r", **options):
        """Opens a blob for reading, as UTF-8 text or, with mode "rb", as bytes."""
        if set(mode) - set("rbt") or "r" not in mode:
            raise BlobError("Blobs are read-only: use mode 'r' or 'rb', or create a new blob with blobs.create.")
        if "b" not in mode:
            options.setdefault("encoding", "utf-8")
        return _open(os.path.join(self._directory, self._find(blob_id)["id"]), mode, **options)

    def read_text(self, blob_id: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        with self.open(blob_id, "r", encoding=encoding, errors=errors, newline="") as file:
            return file.read()

    def read_bytes(self, blob_id: str) -> bytes:
        with self.open(blob_id, "rb") as file:
            return file.read()

    def create(self, content, kind: str | None = None) -> str:
        """Stores text or bytes as a new blob and returns its id."""
        if isinstance(content, str):
            return self._calls.create_blob(kind or "text/plain", content.encode("utf-8"))
        if isinstance(content, (bytes, bytearray, memoryview)):
            view = memoryview(content)
            # An empty multidimensional view cannot be cast.
            whole = view.cast("B") if view.c_contiguous and view.nbytes > 0 else view.tobytes()
            return self._calls.create_blob(kind or "application/octet-stream", whole)
        name = type(content).__name__
        raise TypeError(f"A blob must be text or bytes, not {name}. For other data, use json.dumps(…) and kind 'application/json'.")

    def create_file(self, path, kind: str | None = None) -> str:
        """Stores a file as a new blob and returns its id. The default kind depends on the file name."""
        if kind is None:
            from mimetypes import MimeTypes

            kind = MimeTypes().guess_type(os.fspath(path))[0] or "application/octet-stream"
        with _open(path, "rb") as file:
            return self._calls.create_blob(kind, file.read())

    def _find(self, blob_id: str) -> dict:
        found = self._mounted.get(blob_id) or self._mounted.get(f"blob:{blob_id}")
        if found is None:
            mounted = ", ".join(self._mounted) or "none"
            raise BlobError(f"No blob {blob_id!r} is mounted. Mounted: {mounted}. Add it to input_blobs.")
        return found
