import os
import socket
import tempfile
import unittest

import running  # noqa: F401
import collect


class Collecting(unittest.TestCase):
    def setUp(self):
        self._directory = tempfile.TemporaryDirectory()
        self.root = self._directory.name
        self.addCleanup(self._directory.cleanup)

    def make(self, path, content=b""):
        path = os.path.join(os.fsencode(self.root), os.fsencode(path))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    def find(self, most_files=100, most_bytes=1000):
        return collect.find(self.root, most_files, most_bytes)

    def test_regular_files_are_found_with_their_size(self):
        self.make("a", b"12")
        self.make("b/c d/ä", b"345")
        self.make(".hidden")
        os.mkdir(os.path.join(self.root, "empty"))
        found = self.find()
        self.assertEqual([(left.path, left.size) for left in found.files], [(".hidden", 0), ("a", 2), ("b/c d/ä", 3)])
        self.assertEqual(found.skipped, [])

    def test_everything_else_is_skipped_with_a_reason(self):
        self.make("real", b"x")
        os.symlink("/etc/passwd", os.path.join(self.root, "link"))
        os.symlink("/etc", os.path.join(self.root, "directory"))
        os.mkfifo(os.path.join(self.root, "pipe"))
        os.link(os.path.join(self.root, "real"), os.path.join(self.root, "twin"))
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(os.path.join(self.root, "socket"))
        found = self.find()
        self.assertEqual(found.files, [])
        reasons = {item["path"]: item["why"] for item in found.skipped}
        self.assertEqual(
            reasons,
            {
                "link": "it is a symbolic link",
                "directory": "it is a symbolic link",
                "pipe": "it is not a regular file",
                "real": "it has several hard links",
                "twin": "it has several hard links",
                "socket": "it is not a regular file",
            },
        )

    def test_names_with_control_characters_or_invalid_utf8_are_skipped(self):
        self.make(b"\xff")
        self.make("line\nbreak")
        self.make("\x1b[2J/below")
        self.assertEqual(self.find().files, [])
        self.assertEqual(
            sorted(item["why"] for item in self.find().skipped),
            ["its name has control characters", "its name has control characters", "its name is not UTF-8"],
        )

    def test_files_nested_too_deeply_are_skipped(self):
        self.make("d/" * collect.DEEPEST + "kept")
        self.make("d/" * (collect.DEEPEST + 1) + "lost")
        self.assertEqual([os.path.basename(left.path) for left in self.find().files], ["kept"])

    def test_too_many_files_exceed_the_limit(self):
        for number in range(11):
            self.make(str(number))
        with self.assertRaisesRegex(collect.TooMuch, "output"):
            self.find(most_files=10)

    def test_holes_of_sparse_files_count(self):
        with open(os.path.join(self.root, "sparse"), "wb") as file:
            file.truncate(1 << 40)
        with self.assertRaisesRegex(collect.TooMuch, "disk"):
            self.find()

    def test_opening_does_not_follow_a_link_created_later(self):
        self.make("a/b", b"1")
        left = self.find().files[0]
        os.close(collect.open_left(self.root, left))
        os.rename(os.path.join(self.root, "a"), os.path.join(self.root, "elsewhere"))
        os.symlink("elsewhere", os.path.join(self.root, "a"))
        with self.assertRaises(OSError):
            collect.open_left(self.root, left)

    def test_the_number_of_skipped_files_is_limited(self):
        for number in range(collect.MOST_NOTES + 5):
            os.symlink("x", os.path.join(self.root, str(number)))
        self.assertEqual(len(self.find().skipped), collect.MOST_NOTES)


if __name__ == "__main__":
    unittest.main()
