"""`runtime.fetch`: requests that the host makes with a secret whose value this process never has."""

from __future__ import annotations

import builtins
from binascii import a2b_base64

__builtins__ = dict(vars(builtins))

BODY_LIMIT = 1024 * 1024


class AnsweredError(Exception):
    """What the host answered is an error of a type that it names."""

    def __init__(self, type: str, message: str, *more):
        super().__init__(type, message, *more)
        self.type = type
        self.message = message

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


class FetchError(AnsweredError):
    """The host refused to make a request, or got no answer."""


class Response:
    """The answer to a request, in which the value of the secret is replaced by `***`."""

    def __init__(self, url: str, status: int, headers: dict, body: bytes):
        self.url = url
        self.status = status
        #: Names in lower case.
        self.headers = headers
        self.body = body

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self):
        from json import loads

        return loads(self.body)

    def __repr__(self) -> str:
        return f"<Response {self.status} {len(self.body)} bytes>"


# User code imports them from `runtime`.
FetchError.__module__ = Response.__module__ = "runtime"


def to_fetch(calls, uses: list, program: str):
    """The function `runtime.fetch`."""
    hosts: dict = {}
    for use in uses:
        name, _, host = use.partition("@")
        hosts.setdefault(name, []).append(host)

    def fetch(url: str, method: str = "GET", headers=None, body=None, secret: str | None = None, timeout: float | None = None) -> Response:
        """Asks the host to make a request with a secret, for the hosts that the manifest names for it.

        The host puts the value into the header that the manifest names. Redirects are answers. `body`: bytes, text, or a value that is
        sent as JSON; `timeout`: in seconds.
        """
        if secret is None and len(hosts) == 1:
            (secret,) = hosts
        if secret is None and hosts:
            raise TypeError(f"secret must name one of {', '.join(hosts)}.")
        if secret not in hosts:
            raise FetchError("PermissionError", _undeclared(secret, program))
        sent = [[str(name), str(value)] for name, value in (headers.items() if hasattr(headers, "items") else headers or ())]
        content = _to_body(body, sent)
        if len(content) > BODY_LIMIT:
            raise FetchError("ValueError", f"The body has {len(content)} bytes; the limit is {BODY_LIMIT}.")
        request = {"url": str(url), "method": str(method).upper(), "headers": sent, "secret": str(secret)}
        if timeout is not None:
            request["timeout_ms"] = max(1, min(int(timeout * 1000), 600_000))
        answer = calls.fetch(request, content)
        return Response(str(url), answer["status"], answer["headers"], a2b_base64(answer["body"]))

    return fetch


def why_hidden(name: str, uses: list) -> str | None:
    """Why code cannot read a secret that is only sent for it; None for another one."""
    hosts = [use.partition("@")[2] for use in uses if use.partition("@")[0] == name]
    if not hosts:
        return None
    return (
        f"This code cannot read {name!r}: its manifest does not say expose = true. "
        f'Make the request with runtime.fetch(url, secret="{name}"), which sends the value to {" and ".join(hosts)} only.'
    )


def _undeclared(name, program: str) -> str:
    if program == "code":
        return "run_code cannot use secrets. Call a skill that declares the secret in its manifest."
    shown = "GH_TOKEN" if name is None else name
    return (
        f"No secret {shown!r} is declared for runtime.fetch. Add it to skill.toml: "
        f'[permissions] secrets = [{{ name = "{shown}", hosts = ["api.example.com"] }}].'
    )


def _to_body(body, headers: list):
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    from json import dumps

    if not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(["content-type", "application/json"])
    return dumps(body).encode("utf-8")
