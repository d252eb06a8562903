import { describe, expect, test } from "vitest";
import { createProgress, showReads } from "../../../src/cli/report/progress.ts";
import type { SkillFiles } from "../../../src/skills/files.ts";
import { manualClock } from "../../manual-clock.ts";

function openTerminal(stream: { readonly columns?: number } = { columns: 30 }) {
  const clock = manualClock();
  const written: string[] = [];
  const progress = createProgress({ ...stream, write: (text) => void written.push(text) }, clock);
  return { clock, progress, take: () => written.splice(0) };
}

const erased = "\r\u001b[2K";

describe("progress", () => {
  test("appears after a second, updates in place, and is erased when the work is done", () => {
    const { clock, progress, take } = openTerminal();
    progress.show("installing");
    clock.pass(999);
    expect(take()).toEqual([]);
    clock.pass(1);
    expect(take()).toEqual([`${erased}installing … 1 s`]);
    clock.pass(2000);
    expect(take()).toEqual([`${erased}installing … 2 s`, `${erased}installing … 3 s`]);
    progress.done();
    expect(take()).toEqual([erased]);
    clock.pass(5000);
    expect({ written: take(), pending: clock.pending }).toEqual({ written: [], pending: 0 });
  });

  test("writes nothing for work that is done within a second", () => {
    const { clock, progress, take } = openTerminal();
    progress.show("reading");
    clock.pass(900);
    progress.done();
    clock.pass(900);
    expect(take()).toEqual([]);
  });

  test("is erased for other output and shown again afterwards", () => {
    const { clock, progress, take } = openTerminal();
    progress.show("running");
    clock.pass(1000);
    take();
    progress.erase();
    progress.erase();
    expect(take()).toEqual([erased]);
    clock.pass(1000);
    expect(take()).toEqual([`${erased}running … 2 s`]);
  });

  test("is never wider than the terminal, and escapes control characters", () => {
    const { clock, progress, take } = openTerminal({ columns: 12 });
    progress.show("\u001b[31minstalling rows.clean");
    clock.pass(1000);
    expect(take()).toEqual([`${erased}\\u{1b}[31m…`]);
  });

  test("counts directories during synchronous work, at most ten times a second", () => {
    // Time passes, but no timer fires.
    let now = 0;
    const written: string[] = [];
    const busy = createProgress(
      { columns: 80, write: (text) => void written.push(text) },
      {
        now: () => now,
        after: () => () => undefined,
      },
    );
    const files: SkillFiles = {
      list: () => [],
      head: () => ({ bytes: new Uint8Array(), whole: true }),
      resolve: () => undefined,
    };
    const shown = showReads(files, busy);
    for (let count = 0; count < 1500; count++) {
      now += 1;
      shown.list("/skills");
    }
    expect(written[0]).toBe(`${erased}reading skills: 1001 directories … 1 s`);
    expect(written).toHaveLength(5);
  });
});
