import json
import sys

words = " ".join(sys.argv[1:]).split()
print(json.dumps({"words": len(words)}))
