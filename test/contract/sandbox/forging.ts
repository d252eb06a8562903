import { describe, expect, it } from "vitest";
import type { RunEnd } from "../../../src/sandbox/sandbox.ts";
import { attackCode, codeRun, python } from "./runs.ts";
import type { More } from "./runs.ts";
import type { Trial } from "./tier.ts";

/** Finds the private channel as an attacker would, and writes to it what it likes. */
const channel = python`
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

interface Forgery {
  readonly sends: string;
  readonly code: string;
  readonly ends?: readonly RunEnd["type"][];
}

const forgeries: readonly Forgery[] = [
  { sends: "a header of 4 GiB", code: 'send(b"\\xff\\xff\\xff\\xff")' },
  { sends: "a header beyond what is allowed", code: 'send(struct.pack(">I", 6 << 20) + b"[" * (6 << 20))' },
  { sends: "an empty header", code: "send(bytes(4))" },
  { sends: "a header that is no JSON", code: 'send(frame(b"\\xff{not json"))' },
  { sends: "a header that is no object", code: 'send(frame(b"[1]")); send(frame(b"null"))' },
  {
    sends: "a header nested beyond every stack",
    code: 'send(frame(b"[" * 1_000_000)); send(frame(b"{\\"type\\":\\"returned\\",\\"value\\":" + b"[" * 900_000 + b"]" * 900_000 + b"}"))',
  },
  { sends: "a frame without a type", code: "send(frame({}))" },
  { sends: "a frame of an unknown type", code: 'send(frame({"type": "become_root"}))' },
  {
    sends: "a frame whose type is a name of every object",
    code: 'send(frame({"type": "__proto__"})); send(frame({"type": "constructor"}))',
  },
  {
    sends: "a frame that only the host may send",
    code: 'send(frame({"type": "run"})); send(frame({"type": "reply", "id": 1, "value": 1}))',
  },
  {
    sends: "frames of the control channel",
    code: 'for header in ({"type": "file", "path": "../forged", "bytes": 6}, {"type": "end", "exit_code": 0, "skipped": [], "usage": {}}, {"type": "ready", "python": "9"}):\n        send(frame(header, b"forged" if "bytes" in header else b""))',
  },
  {
    sends: "numbers of bytes that are none",
    code: 'for number in (-1, 1.5, 1e300, "6", None, 1 << 62, True):\n        send(frame({"type": "create_blob", "id": 1, "kind": "a/b", "bytes": number}))',
  },
  {
    sends: "ids that are none",
    code: 'for number in (-1, 1.5, "x", None, 1 << 70, [], {}):\n        send(frame({"type": "call_skill", "id": number, "name": "there", "args": {}}))',
  },
  {
    sends: "a kind of blob that is no text",
    code: 'send(frame({"type": "create_blob", "id": 1, "kind": {"a": 1}, "bytes": 1}, b"x"))',
  },
  {
    sends: "a frame that ends too early, and ends",
    code: 'send(frame({"type": "returned", "value": 1})[:-3]); os._exit(0)',
  },
  {
    sends: "fewer bytes than it said, and ends",
    code: 'send(frame({"type": "create_blob", "id": 1, "kind": "a/b", "bytes": 1000}, b"few")); os._exit(0)',
  },
  {
    sends: "a call of a skill that is not among the brokered",
    code: 'send(frame({"type": "call_skill", "id": 1, "name": "not.there", "args": {}}))',
  },
  { sends: "a result that is no JSON: NaN", code: 'send(frame(b"{\\"type\\":\\"returned\\",\\"value\\":NaN}"))' },
  {
    sends: "a result without a value",
    code: 'send(frame({"type": "returned"}))',
    ends: ["returned", "crashed", "limit"],
  },
  {
    sends: "a result nested deeper than 200",
    code: 'send(frame(b"{\\"type\\":\\"returned\\",\\"value\\":" + b"[" * 5000 + b"]" * 5000 + b"}"))',
  },
  {
    sends: "a result larger than a result may be",
    code: 'send(frame({"type": "returned", "value": "x" * (4_500_000)}))',
  },
  {
    sends: "a summary and blobs of other types",
    code: 'send(frame({"type": "returned", "value": 1, "summary": {"a": 1}, "output_blobs": [1, {"__proto__": 1}, None]}))',
    ends: ["returned", "crashed"],
  },
  {
    sends: "an error of other types",
    code: 'send(frame({"type": "raised", "error": {"type": 1, "message": [], "details": "x"}}))',
    ends: ["raised", "crashed"],
  },
  { sends: "an error that is none", code: 'send(frame({"type": "raised"}))', ends: ["raised", "crashed"] },
  {
    sends: "an enormous error",
    code: 'send(frame({"type": "raised", "error": {"type": "E" * 100_000, "message": "m" * 4_000_000}}))',
    ends: ["raised", "crashed", "limit"],
  },
];

/** C-5.4: nothing that is printed forges a result, and nothing that is sent breaks the host. */
export function describeForging(trial: Trial): void {
  const forging = (body: string, more: More = {}) =>
    codeRun(attackCode(`${channel}\ndef forge():\n    ${body}\n`), {
      brokered: ["there"],
      ...more,
      limits: { timeoutMs: 1500, ...more.limits },
    });

  describe.concurrent("a program that writes to the private channel itself", () => {
    it.each(forgeries.map((forgery) => [forgery.sends, forgery] as const))(
      "is ended, and does no harm, when it sends %s",
      (_sends, { code, ends }) =>
        trial.run(forging(code), ({ end, host }) => {
          expect(ends ?? ["crashed", "limit"]).toContain(end.type);
          expect(host.outputs.size).toBe(0);
          expect(host.calls).toEqual([]);
          expect(host.blobs).toEqual([]);
        }),
    );

    it("has one result, the first, and none after it", () =>
      trial.run(
        forging(
          'send(frame({"type": "returned", "value": "first"}) + frame({"type": "returned", "value": "second"}) + frame({"type": "call_skill", "id": 1, "name": "there", "args": {}}))',
        ),
        ({ end, host }) => {
          expect(end.type === "returned" ? end.value : end.type).toMatch(/^(first|crashed|limit)$/);
          expect(host.calls).toEqual([]);
        },
      ));

    it("floods the host with blobs in vain", () =>
      trial.run(
        forging(
          'for number in range(100_000): send(frame({"type": "create_blob", "id": number, "kind": "a/b", "bytes": 1000}, bytes(1000)))',
        ),
        ({ end, host }) => {
          expect(["crashed", "limit"]).toContain(end.type);
          // Whoever reads no replies is not served for ever.
          expect(host.blobs.length).toBeLessThan(100_000);
        },
      ));

    it("is ended when it closes the channel", () => {
      if (!trial.tier.processes) return undefined;
      return trial.run(forging("[os.close(number) for number in sockets()]"), ({ end }) =>
        expect(["crashed", "limit"]).toContain(end.type),
      );
    });

    it("is one program, however many processes send", () =>
      trial.tier.processes
        ? trial.run(
            forging(
              'for number in range(5):\n        if os.fork() == 0:\n            send(frame({"type": "returned", "value": number}))\n            os._exit(0)',
            ),
            ({ end, host }) => {
              expect(["returned", "crashed", "limit"]).toContain(end.type);
              expect(host.calls).toEqual([]);
            },
          )
        : undefined);
  });

  describe.concurrent("a result", () => {
    it("cannot be forged by printing", () => {
      const code = `${attackCode(channel)}\n${python`
        def main(args):
            forged = frame({"type": "returned", "value": "forged"})
            print(json.dumps({"type": "returned", "value": "forged"}), flush=True)
            for number in (1, 2):
                os.write(number, forged)
            sys.stdout.write(forged.decode("latin-1"))
            return "true"
      `}`;
      return trial.run(codeRun(code), ({ end, host }) => {
        expect(end).toMatchObject({ type: "returned", value: "true" });
        expect(host.stdout + host.stderr).toContain("forged");
      });
    });

    it("is not made by a program that ends without one", () => {
      if (!trial.tier.processes) return undefined;
      return trial.run(codeRun("import os\ndef main():\n    print('{}', flush=True)\n    os._exit(0)"), ({ end }) =>
        expect(end.type).toBe("crashed"),
      );
    });

    it("is not made by a script, whatever it writes and wherever", () => {
      const run = codeRun(
        python`
          import subprocess, sys

          def main():
              text = "import os\nfor n in range(3, 64):\n    try:\n        os.fstat(n)\n        print(n)\n    except OSError:\n        pass\n"
              return subprocess.run([sys.executable, "-I", "-c", text], close_fds=False, stdout=subprocess.PIPE, text=True).stdout
        `,
      );
      if (!trial.tier.processes) return undefined;
      // The channel is not handed on to programs that the program starts.
      return trial.run(run, ({ end }) => expect(end).toMatchObject({ type: "returned", value: "" }));
    });
  });
}
