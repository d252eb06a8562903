import type { RunEnd } from "../../../src/runtime/sandbox.ts";
import { python } from "./runs.ts";

/** Finds the private channel like an attacker and writes arbitrary bytes to it. */
export const channel = python`
  import json, stat, struct, time

  def sockets():
      found = []
      for number in range(3, 256):
          try:
              if stat.S_ISSOCK(os.fstat(number).st_mode):
                  found.append(number)
          except OSError:
              pass
      return found

  def send(data):
      try:
          import js
          from pyodide.ffi import to_js
          js.Deno.stdout.writeSync(to_js(data))
          return
      except (ImportError, AttributeError):
          pass
      for number in sockets():
          rest = memoryview(data)
          while rest:
              try:
                  rest = rest[os.write(number, rest):]
              except BlockingIOError:
                  time.sleep(0.01)
              except OSError:
                  break

  def frame(header, payload=b""):
      text = header if isinstance(header, bytes) else json.dumps(header).encode()
      return struct.pack(">I", len(text)) + text + payload

  def hang():
      while True:
          time.sleep(60)

  def attack(bait):
      forge()
      hang()
`;

/** Forged frames. By default they end the run. */
interface Forgery {
  readonly sends: string;
  readonly code: string;
  readonly ends?: readonly RunEnd["type"][];
}

export const forgeries: readonly Forgery[] = [
  { sends: "a header of 4 GiB", code: python`send(b"\xff\xff\xff\xff")` },
  { sends: "a header larger than the limit", code: python`send(struct.pack(">I", 6 << 20) + b"[" * (6 << 20))` },
  { sends: "an empty header", code: python`send(bytes(4))` },
  { sends: "a header that is not JSON", code: python`send(frame(b"\xff{not json"))` },
  { sends: "a header that is not an object", code: python`send(frame(b"[1]")); send(frame(b"null"))` },
  {
    sends: "a header nested deeper than the stack",
    code: python`
      deep = b"[" * 900_000 + b"]" * 900_000
      send(frame(b'{"type": "returned", "value": ' + deep + b"}"))
    `,
    ends: ["raised", "crashed", "limit"],
  },
  { sends: "a frame without a type", code: python`send(frame({}))` },
  { sends: "a frame of an unknown type", code: python`send(frame({"type": "become_root"}))` },
  {
    sends: "a frame whose type is a property of every object",
    code: python`send(frame({"type": "__proto__"})); send(frame({"type": "constructor"}))`,
  },
  {
    sends: "a frame that only the host may send",
    code: python`send(frame({"type": "run"})); send(frame({"type": "reply", "id": 1, "value": 1}))`,
  },
  {
    sends: "frames of the control channel",
    code: python`
      for header in ({"type": "file", "path": "../forged", "bytes": 6}, {"type": "end", "exit_code": 0, "skipped": []}, {"type": "ready", "python": "9"}):
        send(frame(header, b"forged" if "bytes" in header else b""))
    `,
  },
  ...["-1", "1.5", "1e300", '"6"', "1 << 62", "True", "[6]"].map((bytes) => ({
    sends: `an invalid payload length: ${bytes}`,
    code: python`send(frame({"type": "create_blob", "id": 1, "kind": "a/b", "bytes": ${bytes}}, b"123456"))`,
  })),
  ...["1.5", '"x"', "None", "1 << 70", "[]", "{}"].map((id) => ({
    sends: `an invalid call id: ${id}`,
    code: python`send(frame({"type": "call_skill", "id": ${id}, "name": "there", "args": {}}))`,
  })),
  {
    sends: "arguments nested deeper than the stack",
    code: python`
      deep = b"[" * 900_000 + b"]" * 900_000
      send(frame(b'{"type": "call_skill", "id": 1, "name": "there", "args": ' + deep + b"}"))
    `,
  },
  {
    sends: "a blob kind that is not a string",
    code: python`send(frame({"type": "create_blob", "id": 1, "kind": {"a": 1}, "bytes": 1}, b"x"))`,
  },
  {
    sends: "a truncated frame, and exits",
    code: python`send(frame({"type": "returned", "value": 1})[:-3]); os._exit(0)`,
  },
  {
    sends: "fewer bytes than declared, and exits",
    code: python`send(frame({"type": "create_blob", "id": 1, "kind": "a/b", "bytes": 1000}, b"few")); os._exit(0)`,
  },
  {
    sends: "a call of a skill that is not brokered",
    code: python`send(frame({"type": "call_skill", "id": 1, "name": "not.there", "args": {}}))`,
    // The call may be refused without ending the run.
    ends: ["crashed", "limit"],
  },
  { sends: "a result that is not JSON: NaN", code: python`send(frame(b'{"type": "returned", "value": NaN}'))` },
  {
    sends: "a result without a value",
    code: python`send(frame({"type": "returned"}))`,
    ends: ["returned", "crashed", "limit"],
  },
  {
    sends: "a result nested deeper than 200",
    code: python`send(frame(b'{"type": "returned", "value": ' + b"[" * 5000 + b"]" * 5000 + b"}"))`,
  },
  {
    sends: "a result larger than the limit",
    code: python`send(frame({"type": "returned", "value": "x" * (4_500_000)}))`,
  },
  {
    sends: "a result of a million lists",
    code: python`send(frame(b'{"type": "returned", "value": [' + b"[]," * 1_300_000 + b"[]]}"))`,
    ends: ["returned", "crashed", "limit"],
  },
  {
    sends: "a summary and blobs of wrong types",
    code: python`send(frame({"type": "returned", "value": 1, "summary": {"a": 1}, "output_blobs": [1, {"__proto__": 1}, None]}))`,
    ends: ["returned", "crashed", "limit"],
  },
  {
    sends: "an error of wrong types",
    code: python`send(frame({"type": "raised", "error": {"type": 1, "message": [], "details": "x"}}))`,
    ends: ["raised", "crashed", "limit"],
  },
  {
    sends: "an error that is not an object",
    code: python`send(frame({"type": "raised"}))`,
    ends: ["raised", "crashed", "limit"],
  },
  {
    sends: "an enormous error",
    code: python`send(frame({"type": "raised", "error": {"type": "E" * 100_000, "message": "m" * 4_000_000}}))`,
    ends: ["raised", "crashed", "limit"],
  },
];
