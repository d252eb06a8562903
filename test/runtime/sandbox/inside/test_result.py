import collections
import datetime
import decimal
import enum
import json
import random
import sys
import unittest

import running  # noqa: F401
from frames import encode
from result import OutputLimitError, OutputNotSerializableError, to_plain, to_returned

LIMIT = 4 << 20


def plain(value, limit=LIMIT):
    return to_plain(value, "output", limit)


def random_value(chance, depth):
    """A random value that json can encode."""
    kind = chance.randrange(9 if depth else 6)
    if kind < 6:
        return chance.choice([None, True, False, 0, -1, 2**53 + 1, 1.5, -0.0, 1e300, "", "text", "ä\u2028💡\0\\\""])
    items = [random_value(chance, depth - 1) for _ in range(chance.randrange(4))]
    keys = [chance.choice(["a", "ä", "", 1, 2.5, None, True]) for _ in items]
    return [items, tuple(items), dict(zip(keys, items))][kind - 6]


class Plain(unittest.TestCase):
    def test_data_is_converted_like_json(self):
        chance = random.Random(7)
        for _ in range(2000):
            value = random_value(chance, 4)
            self.assertEqual(json.dumps(plain(value)), json.dumps(json.loads(json.dumps(value))))

    def test_nan_and_infinity_become_null(self):
        self.assertEqual(plain([float("nan"), float("inf"), {"x": -float("inf")}]), [None, None, {"x": None}])

    def test_keys_are_converted_to_strings_like_json(self):
        value = {1: 1, 2.5: 2, True: 3, None: 4, float("nan"): 5, float("-inf"): 6, "s": 7}
        self.assertEqual(plain(value), json.loads(json.dumps(value)))
        with self.assertRaisesRegex(OutputNotSerializableError, r"output\.rows\[<tuple>\].*tuple"):
            plain({"rows": {(1, 2): 3}})

    def test_subclasses_are_converted_like_their_base(self):
        class Colour(str, enum.Enum):
            RED = "red"

        class Number(enum.IntEnum):
            ONE = 1

        class Kelvin(float):
            def __repr__(self):
                return "cold"

        Point = collections.namedtuple("Point", "x y")
        value = [collections.OrderedDict(a=1), collections.Counter("aa"), Point(1, 2), Colour.RED, Number.ONE, Kelvin(1.5)]
        result = plain(value)
        self.assertEqual(result, [{"a": 1}, {"a": 2}, [1, 2], "red", 1, 1.5])
        self.assertEqual([type(one) for one in result], [dict, dict, list, str, int, float])

    def test_a_value_that_is_not_json_is_reported_with_its_path(self):
        for value, place in (
            ({"rows": [1, 2, 3, {"x": b"1"}]}, r"output\.rows\[3\]\.x is bytes"),
            (b"", r"output is bytes.*blob"),
            ({"a b": {"it's": {1}}}, r"output\['a b'\]\[\"it's\"\] is a set"),
            ([decimal.Decimal(1)], r"output\[0\] is of type Decimal"),
            ((datetime.date(2020, 1, 1),), r"output\[0\] is of type date"),
            ({"{0}": object()}, r"output\['\{0\}'\] is of type object"),
            ({1: object()}, r"output\[<int>\] is of type object"),
        ):
            with self.subTest(value=value), self.assertRaisesRegex(OutputNotSerializableError, place):
                plain(value)

    def test_a_forged_class_attribute_is_ignored(self):
        class Liar:
            __class__ = dict

        self.assertRaises(OutputNotSerializableError, plain, Liar())

    def test_depth_is_limited(self):
        def nested(depth):
            value = []
            for _ in range(depth - 1):
                value = [value]
            return value

        self.assertEqual(plain(nested(200)), nested(200))
        self.assertRaisesRegex(OutputLimitError, "200 levels", plain, nested(201))
        circle = {}
        circle["circle"] = circle
        self.assertRaisesRegex(OutputLimitError, "hold itself", plain, circle)

    def test_size_is_limited_as_compact_json(self):
        self.assertEqual(plain("x" * 8, limit=10), "x" * 8)
        self.assertRaises(OutputLimitError, plain, "x" * 9, 10)
        self.assertRaises(OutputLimitError, plain, "ä" * 5, 10)
        self.assertRaises(OutputLimitError, plain, "\0\0", 10)
        self.assertRaises(OutputLimitError, plain, [1, 2, 3, 4, 5], 10)

    def test_counts_keys_and_values(self):
        self.assertEqual(plain([0] * 999_999), [0] * 999_999)
        self.assertRaisesRegex(OutputLimitError, "more than 1000000", plain, [0] * 1_000_000)
        self.assertRaisesRegex(OutputLimitError, "more than 1000000", plain, {str(n): 0 for n in range(500_000)})

    def test_shared_references_count_toward_the_size_limit(self):
        value = ["x"]
        for _ in range(60):
            value = [value, value]
        self.assertRaisesRegex(OutputLimitError, "more than", plain, value)

    def test_large_integers_are_kept_up_to_the_digit_limit(self):
        self.assertEqual(plain(10**600), 10**600)
        self.assertRaises(OutputLimitError, plain, 1 << 100_000_000)
        if hasattr(sys, "set_int_max_str_digits"):
            self.assertRaisesRegex(OutputNotSerializableError, r"output\.n .*digits", plain, {"n": 10**5000})
            self.assertRaises(OutputNotSerializableError, plain, {10**5000: 1})

    def test_lone_surrogates_are_replaced(self):
        self.assertEqual(encode(plain({"\ud800": "a\udfff"})).decode(), '{"\ufffd":"a\ufffd"}')


class Returned(unittest.TestCase):
    def test_a_dict_with_summary_and_output_is_an_envelope(self):
        self.assertEqual(
            to_returned({"summary": "s", "output": (1,), "output_blobs": ("blob:a",)}, LIMIT),
            {"type": "returned", "value": [1], "summary": "s", "output_blobs": ["blob:a"]},
        )
        self.assertEqual(to_returned({"summary": None, "output": 1}, LIMIT), {"type": "returned", "value": 1})

    def test_anything_else_is_the_output(self):
        for value in ({"summary": "s"}, {"output": 1}, {"summary": {"n": 1}, "output": 2}, None, [], "text"):
            self.assertEqual(to_returned(value, LIMIT), {"type": "returned", "value": value})

    def test_invalid_blob_ids_are_reported_with_their_path(self):
        self.assertRaisesRegex(
            OutputNotSerializableError,
            r"output_blobs\[1\]",
            to_returned,
            {"summary": "", "output": 1, "output_blobs": ["blob:a", 1]},
            LIMIT,
        )

    def test_summary_and_output_share_one_size_limit(self):
        half = "x" * (LIMIT * 3 // 4)
        self.assertRaises(OutputLimitError, to_returned, {"summary": half, "output": half}, LIMIT)


if __name__ == "__main__":
    unittest.main()
