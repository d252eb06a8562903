import csv

from table import clean


def main(args):
    with open(runtime.blobs.path(args["table"]), newline="", encoding="utf-8") as source:
        rows = list(csv.reader(source, delimiter=args.get("delimiter", ",")))
    header, kept = rows[0], clean(rows[1:])
    with open("/output/clean.csv", "w", newline="", encoding="utf-8") as target:
        csv.writer(target).writerows([header, *kept])
    dropped = len(rows) - 1 - len(kept)
    print(f"dropped {dropped} of {len(rows) - 1} rows")
    return {"summary": f"Kept {len(kept)} rows.", "output": {"kept": len(kept), "dropped": dropped}}
