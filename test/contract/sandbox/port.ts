import { describe, expect, it } from "vitest";
import type { RunEnd, SandboxRun } from "../../../src/runtime/sandbox.ts";
import { recordingHost } from "./recording-host.ts";
import { blobOf, codeRun, fileOf, scriptRun, skillOf, skillRun } from "./runs.ts";
import { samples } from "./samples.ts";
import { type Trial, expectUnavailable, featuresOf } from "./tier.ts";

const timeout = { type: "limit", limit: "timeout" } satisfies RunEnd;

/** The contract of the port, for every tier including the memory one. Closes the sandbox at the end. */
export function describePort(trial: Trial): void {
  describe("as a port", trial.together, () => {
    it.each<[string, SandboxRun]>([
      ["a skill", skillRun(skillOf("a", { "m.py": "" }, "m.py"), {})],
      ["a Python script", scriptRun("python", "")],
      ["a bash script", scriptRun("bash", "")],
      ["a Node script", scriptRun("node", "")],
      ["a network", codeRun("", { network: ["https://example.org"] })],
      ["a project", codeRun("", { project: { directory: "/usr", writable: false } })],
      ["packages", codeRun("", { packages: "/usr" })],
      ["secrets", codeRun("", { secrets: { KEY: "value" } })],
      ["brokered skills", codeRun("", { brokered: ["there"] })],
    ])("supports %s, or refuses it with a message", async (_what, run) => {
      const { tier, sandbox } = trial;
      if (featuresOf(run).every((feature) => tier.offers.includes(feature))) {
        expect(sandbox.refuses(run)).toBeUndefined();
      } else {
        await trial.run(run, () => expect.fail("It ran."));
      }
    });

    it("returns the program's result", () =>
      trial.run(codeRun(samples.echoes, { args: { a: [1, "ä", null] } }), ({ end }) =>
        expect(end).toMatchObject({ type: "returned", value: { a: [1, "ä", null] } }),
      ));

    it("returns the program's exception", () =>
      trial.run(codeRun(samples.raises), ({ end }) =>
        expect(end).toMatchObject({ type: "raised", error: { type: "ValueError", message: "this cannot be" } }),
      ));

    it("ends a run at its timeout", () =>
      trial.run(codeRun(samples.printsAndWaits, { limits: { timeoutMs: 1500 } }), ({ end }) =>
        expect(end).toEqual(timeout),
      ));

    it("returns output files of a run that timed out", () =>
      trial.run(codeRun(samples.leavesAndWaits, { limits: { timeoutMs: 1500 } }), ({ end, host }) => {
        expect(end).toEqual(timeout);
        expect(host.outputs.get("early.txt")?.toString()).toBe("early");
      }));

    it("cancels a running run", () => {
      const cancel = new AbortController();
      return trial.run(codeRun(samples.printsAndWaits), ({ end }) => expect(end).toEqual({ type: "cancelled" }), {
        signal: cancel.signal,
        answers: { print: () => cancel.abort() },
      });
    });

    it("does not start a run that is already cancelled", () =>
      trial.run(
        codeRun(samples.printsAndWaits),
        ({ end, host }) => {
          expect(end).toEqual({ type: "cancelled" });
          expect(host.events).toEqual([]);
        },
        { signal: AbortSignal.abort() },
      ));

    it("ends a run that prints too much, and passes on the allowed part", () =>
      trial.run(codeRun(samples.printsWithoutEnd, { limits: { printedBytes: 100_000 } }), ({ end, host }) => {
        expect(end).toEqual({ type: "limit", limit: "output" });
        expect(host.printedBytes).toBeGreaterThan(0);
        expect(host.printedBytes).toBeLessThanOrEqual(100_000);
      }));

    it("creates a blob for the program and returns its id", () =>
      trial.run(codeRun(samples.keepsBlob), ({ end, host }) => {
        expect(end).toMatchObject({ type: "returned", value: "blob:made-1" });
        expect(host.blobs.map(({ kind, content }) => [kind, content.toString()])).toEqual([["text/plain", "kept"]]);
      }));

    it("passes on output files last", () =>
      trial.run(codeRun(samples.leavesFiles), ({ end, host }) => {
        expect(end).toMatchObject({ type: "returned", value: "left" });
        expect([...host.outputs].map(([path, content]) => [path, content.toString()]).sort()).toEqual([
          ["one.txt", "1"],
          ["two.txt", "22"],
        ]);
      }));

    it("calls the host for a brokered skill", () =>
      trial.run(codeRun(samples.callsSkill, { brokered: ["there"], args: { n: 1 } }), ({ end, host }) => {
        expect(end).toMatchObject({ type: "returned", value: { name: "there", args: { n: 1 } } });
        expect(host.calls).toHaveLength(1);
      }));

    it("aborts the call of a brokered skill when the run is over", () => {
      const heard: AbortSignal[] = [];
      return trial.run(
        codeRun(samples.callsSkill, { brokered: ["there"], limits: { timeoutMs: 1500 } }),
        ({ end }) => {
          expect(end).toEqual(timeout);
          expect(heard.map(({ aborted }) => aborted)).toEqual([true]);
        },
        {
          answers: {
            callSkill: (_name, _args, signal) => {
              heard.push(signal);
              return new Promise(() => undefined);
            },
          },
        },
      );
    });

    const short = { size: 5, read: (): AsyncIterable<Uint8Array> => fileOf("", "four").read() };
    const long = { size: 3, read: (): AsyncIterable<Uint8Array> => fileOf("", "four").read() };
    it.each<[string, Partial<SandboxRun>]>([
      ["file that gives less than its size", { skills: [{ name: "a", files: [{ path: "f", ...short }] }] }],
      ["file that gives more than its size", { skills: [{ name: "a", files: [{ path: "f", ...long }] }] }],
      ["blob that gives less than its size", { blobs: [{ ...blobOf("blob:b", ""), ...short }] }],
      ["blob that gives more than its size", { blobs: [{ ...blobOf("blob:b", ""), ...long }] }],
    ])("does not start with a %s", async (_what, given) => {
      const host = recordingHost();
      const run = { ...codeRun(samples.printsAndWaits), ...given };
      await expectUnavailable(trial.sandbox.run(run, host, new AbortController().signal));
      expect(host.record.events).toEqual([]);
    });

    it("does not start if a file cannot be read, and passes on the error", async () => {
      const host = recordingHost();
      const reason = new Error("the disk is gone");
      const read = (): AsyncIterable<Uint8Array> => ({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(reason) }),
      });
      const run = codeRun(samples.printsAndWaits, { skills: [{ name: "a", files: [{ path: "f", size: 1, read }] }] });
      const thrown: unknown = await trial.sandbox
        .run(run, host, new AbortController().signal)
        .catch((error: unknown) => error);
      expect([thrown, (thrown as Error).cause]).toContain(reason);
      expect(host.record.events).toEqual([]);
    });

    it("passes on an error of the host's output callback", async () => {
      const reason = new Error("no room");
      const host = recordingHost({ output: () => Promise.reject(reason) });
      const signal = new AbortController().signal;
      await expect(trial.sandbox.run(codeRun(samples.leavesFiles), host, signal)).rejects.toBe(reason);
    });

    it("isolates concurrent runs", async () => {
      await Promise.all(
        Array.from({ length: 6 }, (_, number) =>
          trial.run(codeRun(samples.echoes, { args: { number } }), ({ end }) =>
            expect(end).toMatchObject({ type: "returned", value: { number } }),
          ),
        ),
      );
    });
  });
}

/** Must be last: nothing can run afterwards. */
export function describeClosing(trial: Trial): void {
  describe("when it is closed", () => {
    it("ends active runs, then refuses new ones", async () => {
      const closing: Promise<void>[] = [];
      const host = recordingHost({ print: () => void closing.push(trial.sandbox.close()) });
      const end = await trial.sandbox.run(codeRun(samples.printsAndWaits), host, new AbortController().signal);
      expect(end).toEqual({ type: "cancelled" });
      expect(closing).not.toEqual([]);
      await Promise.all(closing);
      await trial.sandbox.close();
      const skills = [skillOf("a", { "SKILL.md": "x" })];
      await expectUnavailable(
        trial.sandbox.run(codeRun(samples.echoes, { skills }), recordingHost(), new AbortController().signal),
      );
    });
  });
}
