import random
import unittest

import running  # noqa: F401
from frames import HEADER_LIMIT_IN, Channel, FrameError, decode, encode, well_formed


class Stream:
    """An in-memory stream that reads and writes a few bytes at a time."""

    def __init__(self, content=b"", most=3):
        self.content = bytearray(content)
        self._most = most

    def read(self, size):
        part = bytes(self.content[: min(size, self._most)])
        del self.content[: len(part)]
        return part

    def write(self, content):
        part = bytes(content[: self._most])
        self.content += part
        return len(part)


def channel_on(stream):
    return Channel(stream.read, stream.write)


class Frames(unittest.TestCase):
    def test_round_trip_in_chunks_of_any_size(self):
        for most in (1, 2, 7, 1 << 20):
            stream = Stream(most=most)
            channel = channel_on(stream)
            headers = [{"type": "a", "text": "ä\u2028\n\0💡", "n": [1, -2.5, None, True]}, {"type": "b", "x": {}}]
            for header in headers:
                channel.send(header)
            self.assertEqual([channel.receive(), channel.receive()], headers)
            self.assertRaises(EOFError, channel.receive)

    def test_carry_bytes_after_the_header(self):
        stream = Stream(most=1000)
        channel_on(stream).send({"type": "create_blob"}, memoryview(b"\0\xff" * 2000))
        self.assertEqual(channel_on(stream).receive(), {"type": "create_blob", "bytes": 4000})
        self.assertEqual(bytes(stream.content), b"\0\xff" * 2000)

    def test_that_are_malformed_are_rejected(self):
        for text in (b"", b"[1]", b"null", b"{}", b'{"type":1}', b'{"type":"a"} ', b'{"type"', b"nonsense"):
            stream = Stream(len(text).to_bytes(4, "big") + text)
            with self.subTest(text=text):
                self.assertRaises((FrameError, ValueError), channel_on(stream).receive)

    def test_that_are_too_long_are_rejected_before_they_are_read(self):
        stream = Stream((HEADER_LIMIT_IN + 1).to_bytes(4, "big") + b"{")
        self.assertRaises(FrameError, channel_on(stream).receive)
        self.assertEqual(stream.content, b"{")
        self.assertRaises(FrameError, channel_on(Stream()).send, {"type": "a", "text": "x" * (6 << 20)})

    def test_that_are_truncated_raise_eof_error(self):
        for content in (b"\0\0", b"\0\0\0\x09{"):
            self.assertRaises(EOFError, channel_on(Stream(content)).receive)

    def test_carry_any_text(self):
        chance = random.Random(1)
        for _ in range(300):
            text = "".join(chr(chance.choice((chance.randrange(0xD800), chance.randrange(0x110000)))) for _ in range(9))
            self.assertEqual(decode(encode([well_formed(text)])), [well_formed(text)])
            if not any(0xD800 <= ord(letter) < 0xE000 for letter in text):
                self.assertEqual(well_formed(text), text)

    def test_join_surrogate_pairs_and_replace_lone_surrogates(self):
        self.assertEqual(well_formed("a\ud83d\ude00b\ud800c\udc00"), "a😀b\ufffdc\ufffd")

    def test_reject_values_that_are_not_json(self):
        for value in (float("nan"), b"x", {1, 2}):
            self.assertRaises((TypeError, ValueError), encode, {"type": "a", "value": value})


if __name__ == "__main__":
    unittest.main()
