import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { stageContent } from "../../../../src/runtime/blobs/disk/disk-records.ts";

describe("content that cannot be synced to disk", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), "stage-content-"));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(directory, { recursive: true });
  });

  test("rejects only after its record is written, so that the record can be removed", async () => {
    const other = await open(path.join(directory, "other"), "w");
    const handles = Object.getPrototypeOf(other) as typeof other;
    await other.close();
    vi.spyOn(handles, "sync").mockRejectedValue(new Error("the disk is full"));
    let isRecorded = false;
    const staged = stageContent(path.join(directory, "content"), Buffer.from("text"), {
      limitBytes: 10,
      signal: undefined,
      async record() {
        for (let turn = 0; turn < 1000; turn++) await setImmediate();
        isRecorded = true;
      },
    });
    await expect(staged).rejects.toThrow("the disk is full");
    expect(isRecorded).toBe(true);
  });
});
