import { lchownSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { directoryIdentityOf } from "../../../src/base/paths/identity.ts";
import { isSkillsError } from "../../../src/base/errors.ts";
import type { RunEnd } from "../../../src/runtime/sandbox.ts";
import { startSwapping } from "../../swapping.ts";
import { recordingHost } from "./recording-host.ts";
import { codeRun, python } from "./runs.ts";
import type { Trial } from "./tier.ts";

const readAll = python`
  def main():
      return open("/project/text").read()
`;

/** Projects whose parent directory is writable for other users. */
export function describeSwappedProject(trial: Trial): void {
  const make = (): { project: string; link: string } => {
    const directory = mkdtempSync(path.join(trial.bait.facts.given, "swapped-"));
    const [project, other, link] = [
      path.join(directory, "project"),
      path.join(directory, "other"),
      path.join(directory, "link"),
    ];
    for (const place of [project, other]) {
      mkdirSync(place);
      writeFileSync(path.join(place, "text"), `of ${path.basename(place)}`);
    }
    symlinkSync(other, link);
    if (process.getuid?.() === 0) {
      for (const place of [directory, project, other, link]) lchownSync(place, 65_534, 65_534);
    }
    return { project, link };
  };

  describe("a project with an identity", () => {
    it.each([false, true])("is mounted if it is that directory (writable: %s)", (writable) => {
      const { project } = make();
      const identity = directoryIdentityOf(project);
      return trial.run(codeRun(readAll, { project: { directory: project, writable, identity } }), ({ end }) => {
        expect(end).toMatchObject({ type: "returned", value: "of project" });
      });
    });

    it.each([false, true])("ends the run before its code if it is another one (writable: %s)", (writable) => {
      const { project, link } = make();
      const identity = directoryIdentityOf(project);
      return trial.run(codeRun(readAll, { project: { directory: link, writable, identity } }), ({ end, host }) => {
        expect(end).toMatchObject({ type: "crashed" });
        expect(host.stdout + host.stderr).toContain("The project directory was replaced by another directory.");
      });
    });

    it("is never a different directory while it is constantly replaced by a link", async () => {
      const { project, link } = make();
      const identity = directoryIdentityOf(project);
      const run = (): Promise<RunEnd> =>
        trial.sandbox.run(
          codeRun(readAll, { project: { directory: project, writable: true, identity } }),
          recordingHost(),
          new AbortController().signal,
        );
      if (trial.sandbox.refuses(codeRun("", { project: { directory: project, writable: true } })) !== undefined) return;
      const swapping = await startSwapping(project, link);
      const seen = new Set<unknown>();
      try {
        for (let count = 0; count < 20; count++) {
          try {
            const end = await run();
            seen.add(end.type === "returned" ? end.value : end.type === "raised" ? end.error.type : end.type);
          } catch (error) {
            if (!isSkillsError(error)) throw error;
            seen.add(error.code);
          }
        }
      } finally {
        await swapping.stop();
      }
      expect([...seen]).not.toContain("of other");
      expect(seen.size).toBeGreaterThan(1);
    }, 120_000);
  });
}
