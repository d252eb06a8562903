from collections import Counter


def main(args):
    column = args.get("column", 0)
    return dict(Counter(row[column] for row in args["rows"]).most_common())
