import { describe, expect, it } from "vitest";
import type { RunEnd, SandboxRun } from "../../../src/runtime/sandbox.ts";
import { recordingHost } from "./recording-host.ts";
import { blobOf, codeRun, fileOf, scriptRun, skillOf, skillRun } from "./runs.ts";
import { samples } from "./samples.ts";
import { type Trial, featuresOf } from "./tier.ts";

/** Names that are paths. Callers check them, but the sandbox does not rely on that. */
export function describeNames(trial: Trial): void {
  const climbing = (): string => `../../../../../../..${trial.bait.facts.writable}/climbed`;
  const paths: readonly (readonly [string, () => string])[] = [
    ["climbs out", climbing],
    ["climbs out in the middle", () => `a/${climbing()}`],
    ["is absolute", () => `${trial.bait.facts.writable}/absolute`],
    ["is empty", () => ""],
    ["is the directory", () => "."],
    ["holds a NUL", () => "a\0b"],
    ["is too long", () => "n".repeat(5000)],
  ];

  /** Either rejected before anything starts, or the run fails without effect on the host. */
  async function expectRefused(run: SandboxRun): Promise<void> {
    const host = recordingHost();
    const end: RunEnd | undefined = await trial.sandbox
      .run(run, host, new AbortController().signal)
      .catch(() => undefined);
    expect(end).toBeUndefined();
    expect(host.record.events).toEqual([]);
    expect(trial.bait.harm()).toEqual([]);
  }

  describe("invalid names", trial.together, () => {
    it.each(paths)("are refused: a skill's file whose name %s", async (_what, path) => {
      const skill = { name: "a", files: [fileOf(path(), "planted")] };
      await expectRefused(codeRun(samples.echoes, { skills: [skill] }));
    });

    it.each(paths)("are refused: a skill whose name %s", async (_what, path) => {
      await expectRefused(codeRun(samples.echoes, { skills: [skillOf(path(), { "SKILL.md": "planted" })] }));
    });

    it.each(paths)("are refused: a blob whose id %s", async (_what, path) => {
      await expectRefused(codeRun(samples.echoes, { blobs: [blobOf(`blob:${path()}`, "planted")] }));
    });

    it("are refused: two files with the same path", async () => {
      const twice = { name: "a", files: [fileOf("f", "1"), fileOf("f/g", "2")] };
      await expectRefused(codeRun(samples.echoes, { skills: [twice] }));
    });

    it.each([
      "os.system",
      "__import__('os')",
      "../main",
      "/etc/passwd",
      "",
      "main ",
      "__class__",
      "main.__globals__",
      "not\nmain",
    ])("do not find an entrypoint %j in code", (entrypoint) =>
      trial.run(codeRun("import os\ndef main(): return 1", { entrypoint }), ({ end }) =>
        expect(end.type).toBe("raised"),
      ),
    );

    it("do not find an entrypoint outside of the skill", async () => {
      for (const file of [
        trial.bait.facts.files[2] ?? "",
        `../../../../..${trial.bait.facts.files[2] ?? ""}`,
        "missing.py",
      ]) {
        const run = skillRun(skillOf("a", { "SKILL.md": "x" }, file), {});
        const host = recordingHost();
        const end = await trial.sandbox.run(run, host, new AbortController().signal).catch(() => undefined);
        expect([undefined, "raised"]).toContain(end?.type);
        expect(
          trial.bait.contents.filter((content) =>
            JSON.stringify([end, host.record.stdout, host.record.stderr]).includes(content),
          ),
        ).toEqual([]);
      }
    });

    it.each(["/bin/true", "../../../usr/bin/true", "scripts/missing.sh", "scripts", ""])(
      "do not find a script %j outside of its skill",
      async (file) => {
        const script = scriptRun("bash", "exit 0");
        const run = { ...script, program: { ...script.program, file } as SandboxRun["program"] };
        if (!featuresOf(run).every((feature) => trial.tier.offers.includes(feature))) return;
        const end = await trial.sandbox.run(run, recordingHost(), new AbortController().signal).catch(() => undefined);
        expect(end).not.toMatchObject({ type: "exited", exitCode: 0 });
      },
    );
  });
}
