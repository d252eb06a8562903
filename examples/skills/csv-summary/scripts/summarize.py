"""Prints one line a column of a CSV file: name, kind, filled cells, and min/mean/max of numbers."""

import argparse
import csv
import sys


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def summarize(rows):
    for name in rows[0] if rows else []:
        cells = [row[name] for row in rows if row[name]]
        numbers = [number(cell) for cell in cells]
        if cells and None not in numbers:
            mean = sum(numbers) / len(numbers)
            yield f"{name}: number, {len(cells)} filled, min {min(numbers):g}, mean {mean:g}, max {max(numbers):g}"
        else:
            yield f"{name}: text, {len(cells)} filled, {len(set(cells))} distinct"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--in", dest="path", help="the CSV file; standard input when absent")
    path = parser.parse_args().path
    with open(path, newline="", encoding="utf-8") if path else sys.stdin as source:
        for line in summarize(list(csv.DictReader(source))):
            print(line)


if __name__ == "__main__":
    main()
