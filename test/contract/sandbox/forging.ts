import { describe, expect, it } from "vitest";
import { channel, forgeries } from "./forged-frames.ts";
import { type More, attackCode, codeRun, python } from "./runs.ts";
import type { Trial } from "./tier.ts";

/** Printed output cannot forge a result, and forged frames cannot break the host. */
export function describeForging(trial: Trial): void {
  const forging = (body: string, more: More = {}) =>
    codeRun(attackCode(`${channel}\ndef forge():\n${body.replace(/^/gm, "    ")}\n`), {
      brokered: ["there"],
      ...more,
      limits: { timeoutMs: 1500, ...more.limits },
    });

  describe("a program that writes to the private channel", trial.together, () => {
    it.each(forgeries.map((forgery) => [forgery.sends, forgery] as const))(
      "is ended without harm when it sends %s",
      (_sends, { code, ends }) =>
        // Protocol violations end the run immediately; a valid result may leave the program running.
        trial.run(forging(code, { limits: { timeoutMs: ends === undefined ? 300_000 : 1500 } }), ({ end, host }) => {
          expect(ends ?? ["crashed", "limit"]).toContain(end.type);
          expect(host.outputs.size).toBe(0);
          expect(host.calls).toEqual([]);
          expect(host.blobs).toEqual([]);
        }),
    );

    it("cannot replace its first result", () =>
      trial.run(
        forging(
          python`
            results = frame({"type": "returned", "value": "first"}) + frame({"type": "returned", "value": "second"})
            send(results + frame({"type": "call_skill", "id": 1, "name": "there", "args": {}}))
          `,
        ),
        ({ end, host }) => {
          expect(end.type === "returned" ? end.value : end.type).toMatch(/^(first|crashed|limit)$/);
          expect(host.calls).toEqual([]);
        },
      ));

    it("cannot flood the host with blobs", () =>
      trial.run(
        forging(
          python`
            for number in range(100_000):
                send(frame({"type": "create_blob", "id": number, "kind": "a/b", "bytes": 1000}, bytes(1000)))
          `,
        ),
        ({ end, host }) => {
          expect(["crashed", "limit"]).toContain(end.type);
          // A program that reads no replies is eventually not served.
          expect(host.blobs.length).toBeLessThan(100_000);
        },
      ));

    it("cannot send an endless blob", () =>
      trial.run(
        forging(
          python`
            send(frame({"type": "create_blob", "id": 1, "kind": "a/b", "bytes": 1 << 40}))
            while True:
                send(bytes(1 << 20))
          `,
        ),
        ({ end, host }) => {
          expect(["crashed", "limit"]).toContain(end.type);
          expect(host.blobs).toEqual([]);
        },
      ));

    it("has one pending call at a time", () =>
      trial.run(
        forging(
          python`
            for number in range(10_000):
                send(frame({"type": "call_skill", "id": number, "name": "there", "args": {}}))
          `,
        ),
        ({ end, host }) => {
          expect(["crashed", "limit"]).toContain(end.type);
          expect(host.calls.length).toBeLessThanOrEqual(1);
        },
        { answers: { callSkill: () => new Promise(() => undefined) } },
      ));

    it("is terminated when it closes the channel", () => {
      if (!trial.tier.processes) return undefined;
      return trial.run(forging("[os.close(number) for number in sockets()]"), ({ end }) =>
        expect(["crashed", "limit"]).toContain(end.type),
      );
    });

    it("counts as one program, however many processes send", () =>
      trial.tier.processes
        ? trial.run(
            forging(
              python`
                for number in range(5):
                    if os.fork() == 0:
                        send(frame({"type": "returned", "value": number}))
                        os._exit(0)
              `,
            ),
            ({ end, host }) => {
              expect(["returned", "crashed", "limit"]).toContain(end.type);
              expect(host.calls).toEqual([]);
            },
          )
        : undefined);
  });

  describe("a result", trial.together, () => {
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

    it("does not exist if the program exits without one", () => {
      if (!trial.tier.processes) return undefined;
      return trial.run(codeRun("import os\ndef main():\n    print('{}', flush=True)\n    os._exit(0)"), ({ end }) =>
        expect(end.type).toBe("crashed"),
      );
    });

    it("cannot be sent by child processes", () => {
      const code = python`
        import subprocess, sys

        text = """if True:
            import os
            for number in range(3, 64):
                try:
                    os.fstat(number)
                    print(number)
                except OSError:
                    pass
        """

        def main():
            command = [sys.executable, "-I", "-c", text]
            return subprocess.run(command, close_fds=False, stdout=subprocess.PIPE, text=True).stdout
      `;
      const run = codeRun(code);
      if (!trial.tier.processes) return undefined;
      // Child processes do not inherit the channel.
      return trial.run(run, ({ end }) => expect(end).toMatchObject({ type: "returned", value: "" }));
    });
  });
}
