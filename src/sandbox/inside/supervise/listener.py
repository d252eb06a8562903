"""
The network access of a sandbox: a listener in its own network namespace, served by the host's proxy. The descriptor is sent in the form
in which Node passes a `net.Server` between processes.
"""

from __future__ import annotations

import json
import os
import socket


def hand_over(descriptor: int) -> int:
    """Listens on loopback, sends the listener to the host and closes its own descriptors. Returns the port."""
    message = {"cmd": "NODE_HANDLE", "type": "net.Server", "msg": {"type": "listener"}}
    with socket.socket(fileno=descriptor) as channel, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)
        port = listening.getsockname()[1]
        socket.send_fds(channel, [json.dumps(message).encode() + b"\n"], [listening.fileno()])
        # Keep it open until the host acknowledges it.
        answer = b""
        while b"NODE_HANDLE_ACK" not in answer:
            part = channel.recv(4096)
            if not part:
                raise EOFError("The host did not accept the listener.")
            answer += part
    return port
