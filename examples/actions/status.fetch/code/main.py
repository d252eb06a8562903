import json
import urllib.error
import urllib.request

STATUS = "http://127.0.0.1:8787/status"
ELSEWHERE = "http://127.0.0.1:8788/"


def main():
    with urllib.request.urlopen(STATUS) as response:
        status = json.load(response)
    try:
        urllib.request.urlopen(ELSEWHERE)
        elsewhere = "reached"
    except urllib.error.HTTPError as refusal:
        elsewhere = refusal.code
    return {"status": status, "elsewhere": elsewhere}
