import { describe, expect, it } from "vitest";
import type { RunEnd } from "../../../src/runtime/sandbox.ts";
import { type More, codeRun, python } from "./runs.ts";
import { samples } from "./samples.ts";
import type { Trial } from "./tier.ts";

const megabyte = 1024 * 1024;

/** How runs fail. Tests that exhaust resources run one at a time. */
export function describeEnds(trial: Trial): void {
  const timeout: RunEnd = { type: "limit", limit: "timeout" };
  const ends = (name: string, code: string, allowed: readonly RunEnd[], more: More = {}): void => {
    it(name, () =>
      trial.run(codeRun(code, more), ({ end }) => {
        const { type } = end;
        const seen = type === "crashed" ? { type } : type === "raised" ? { type, error: end.error.type } : end;
        const wanted = allowed.map((one) => (one.type === "raised" ? { type: one.type, error: one.error.type } : one));
        expect(wanted).toContainEqual(seen);
      }),
    );
  };
  const raised = (type: string): RunEnd => ({ type: "raised", error: { type, message: "" } });
  const crashed = { type: "crashed" } as RunEnd;

  describe("a run times out", trial.together, () => {
    const more = { limits: { timeoutMs: 1000 } };
    ends("when it computes forever", "def main():\n    while True: pass\n", [timeout], more);
    ends("when it is busy in a single call", "def main(): return len(str(7 ** (10 ** 9)))", [timeout], more);
    ends("when loading takes forever", "while True: pass\ndef main(): pass\n", [timeout], more);
    ends(
      "when it catches every exception",
      python`
        def main():
            while True:
                try:
                    while True:
                        pass
                except BaseException:
                    pass
      `,
      [timeout],
      more,
    );
    if (!trial.tier.processes) return;
    ends(
      "when it ignores every signal",
      python`
        import signal, time

        def main():
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            while True:
                time.sleep(60)
      `,
      [timeout],
      more,
    );
    ends(
      "when it stops itself",
      "import os, signal\ndef main(): os.kill(os.getpid(), signal.SIGSTOP)",
      [timeout],
      more,
    );
    ends(
      "when one of its threads does not end",
      "import threading, time\ndef main():\n    t = threading.Thread(target=time.sleep, args=(600,))\n    t.start()\n    t.join()",
      [timeout],
      more,
    );
  });

  if (trial.tier.processes)
    describe("a run ends with its result", trial.together, () => {
      const one: RunEnd = { type: "returned", value: 1 };
      const more = { limits: { timeoutMs: 300_000 } };
      ends(
        "while one of its threads continues",
        "import threading, time\ndef main():\n    threading.Thread(target=time.sleep, args=(600,)).start()\n    return 1",
        [one],
        more,
      );
      ends(
        "while its exit handlers wait",
        "import atexit, time\ndef main():\n    atexit.register(time.sleep, 600)\n    return 1",
        [one],
        more,
      );
      ends(
        "while a child holds its output open",
        "import subprocess, sys\ndef main():\n    subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import time; time.sleep(600)'])\n    return 1",
        [one],
        more,
      );
    });

  describe("a run ends at its limit", () => {
    const memory: RunEnd[] = [{ type: "limit", limit: "memory" }, raised("MemoryError")];
    const small = { limits: { memoryBytes: 96 * megabyte } };
    ends(
      "when it allocates too much memory at once",
      `def main(): return len(bytearray(${1024 * megabyte}))`,
      memory,
      small,
    );
    ends(
      "when it allocates too much memory in small pieces",
      `def main():\n    x = []\n    while True: x.append(bytearray(${megabyte}))`,
      memory,
      small,
    );

    it("when it prints without newlines", () =>
      trial.run(
        codeRun("import os\ndef main():\n    while True: os.write(2, b'\\0' * 65536)", {
          limits: { printedBytes: 100_000 },
        }),
        ({ end, host }) => {
          expect(end).toEqual({ type: "limit", limit: "output" });
          expect(host.printedBytes).toBeLessThanOrEqual(100_000);
        },
      ));

    if (!trial.tier.processes) return;
    ends(
      "when its processes together use too much memory",
      python`
        import os, time

        def main():
            for _ in range(8):
                if os.fork() == 0:
                    kept = bytearray(24 * 1024 * 1024)
                    for at in range(0, len(kept), 4096):
                        kept[at] = 1
                    time.sleep(600)
            time.sleep(600)
      `,
      [{ type: "limit", limit: "memory" }],
      small,
    );
    const disk: RunEnd[] = [{ type: "limit", limit: "disk" }, raised("OSError")];
    // Which need not be there.
    const absent = [raised("FileNotFoundError"), raised("PermissionError")];
    const endsOf = (place: string): RunEnd[] => (place === "/dev/shm" ? [...disk, ...absent] : disk);
    const places = ["/workspace", "/output", "/tmp", ...(trial.tier.isolates === false ? [] : ["/dev/shm"])];
    const tiny = { limits: { diskBytes: 4 * megabyte } };
    for (const place of places) {
      ends(
        `when it fills ${place}`,
        python`
          import tempfile

          def main():
              directory = tempfile.gettempdir() if "${place}" == "/tmp" else "${place}"
              for n in range(100):
                  with open(f"{directory}/fill-{n}", "wb", buffering=0) as file:
                      file.write(bytes(1024 * 1024))
        `,
        endsOf(place),
        tiny,
      );
    }
    for (const place of places) {
      ends(
        `when it makes too many files in ${place}`,
        python`
          import os, tempfile

          def main():
              place = tempfile.gettempdir() if "${place}" == "/tmp" else "${place}"
              for n in range(400_000):
                  os.close(os.open(f"{place}/{n}", os.O_CREAT | os.O_WRONLY))
        `,
        endsOf(place),
        { limits: { timeoutMs: 60_000 } },
      );
    }
  });

  if (trial.tier.processes)
    describe("a run without a result is a crash", trial.together, () => {
      ends("when it exits immediately", "import os\ndef main(): os._exit(0)", [crashed]);
      ends("when it exits while it loads", "import os\nos._exit(0)\ndef main(): pass", [crashed]);
      ends("when it exits with a number", "import os\ndef main(): os._exit(7)", [crashed]);
      ends("when it kills itself", "import os\ndef main(): os.kill(os.getpid(), 9)", [crashed]);
      ends("when it reads an invalid address", "import ctypes\ndef main(): ctypes.string_at(0)", [crashed]);
      ends(
        "when it executes another program",
        "import os, sys\ndef main(): os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', 'pass'])",
        [crashed],
      );
    });

  it("runs that are cancelled repeatedly do not affect the next one", async () => {
    for (let round = 0; round < 5; round++) {
      const cancel = new AbortController();
      await trial.run(codeRun(samples.printsAndWaits), ({ end }) => expect(end.type).toBe("cancelled"), {
        signal: cancel.signal,
        answers: { print: () => cancel.abort() },
      });
    }
    await trial.run(codeRun(samples.echoes, { args: 1 }), ({ end }) =>
      expect(end).toMatchObject({ type: "returned", value: 1 }),
    );
  });
}
