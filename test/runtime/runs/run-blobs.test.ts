import { describe, expect, test } from "vitest";
import type { BlobStore } from "../../../src/runtime/blobs.ts";
import { memoryBlobs } from "../blobs/memory-blobs.ts";
import { SkillsError } from "../../../src/base/errors.ts";
import type { RunResult } from "../../../src/runtime/runs/run-spec.ts";
import { actionSkill, openRunner } from "./open-runner.ts";
import { defaultToolLimits } from "../../../src/runtime/blobs/blob-rules.ts";

const limits = { ...defaultToolLimits, runBlobs: { maxBytes: 1_000, maxBlobs: 5 } };
const done = { type: "returned", value: null } as const;
const python = { language: "python", code: "" };

describe("the blob budget of a run", () => {
  test("limits the number of blobs, including those of the skills that it calls", async () => {
    let refused: unknown;
    const { call, store } = await openRunner(
      actionSkill("keeper", '[permissions]\nsecrets = ["KEY"]'),
      async ({ run, createBlob, callSkill }) => {
        if (run.program.type === "code") await callSkill("keeper", {});
        try {
          for (let count = 0; count < 3; count++) await createBlob("text/plain", "x");
        } catch (error) {
          refused = error;
        }
        return done;
      },
      { limits, grants: ["keeper:secrets"], readSecret: () => Promise.resolve("value") },
    );
    const result = (await call("run_code", { ...python, mount_skills: ["keeper"] })) as RunResult;
    expect(result.output_blobs).toHaveLength(5);
    expect(refused).toMatchObject({
      code: "QUOTA_EXCEEDED",
      message: expect.stringContaining("runQuotaBytes, runMaxBlobs") as string,
      facts: { limit: "run", maxBytes: 1_000, maxBlobs: 5, hint: expect.any(String) as string },
    });
    // Its room is its own: whoever called it may make more, and so may the next run.
    expect(await store.put("me", "text/plain", Buffer.from("x"))).toMatchObject({ size: 1 });
    expect(await call("run_code", { ...python, mount_skills: ["keeper"] })).toMatchObject({ status: "completed" });
  });

  test("limits the number of bytes; content that was not stored does not count", async () => {
    const refusals: string[] = [];
    const { call } = await openRunner(
      {},
      async ({ createBlob }) => {
        for (const size of [600, 600, 400, 1]) {
          await createBlob("text/plain", "x".repeat(size)).catch((error: unknown) =>
            refusals.push((error as SkillsError).code),
          );
        }
        return done;
      },
      { limits },
    );
    expect(((await call("run_code", python)) as RunResult).output_blobs).toHaveLength(2);
    expect(refusals).toEqual(["QUOTA_EXCEEDED", "QUOTA_EXCEEDED"]);
  });

  test("includes output files; one too many fails the run, and the others are stored", async () => {
    const { call } = await openRunner(
      {},
      ({ leave }) => {
        for (let count = 0; count < 6; count++) leave(`${count}.txt`, "x");
        return done;
      },
      { limits },
    );
    const result = (await call("run_code", python)) as RunResult;
    expect(result).toMatchObject({ status: "failed", error: { type: "OutputLimitError" } });
    expect(result.error?.message).toContain("runMaxBlobs");
    expect(result.output_blobs).toHaveLength(5);
  });

  test("lists up to 64 ids, first those that the code names; a blob lists the rest", async () => {
    let named = "";
    const { call } = await openRunner({}, async ({ createBlob }) => {
      for (let count = 0; count < 100; count++) named = await createBlob("text/plain", "x");
      return { ...done, outputBlobs: [named] };
    });
    const { output_blobs, more_output_blobs: more } = (await call("run_code", python)) as RunResult;
    expect(output_blobs).toHaveLength(64);
    expect(output_blobs[0]).toBe(named);
    expect(more?.count).toBe(36);
    const { content } = (await call("read_blob", { blob_id: more?.blob_id, mode: "full" })) as { content: string };
    const rest = JSON.parse(content) as string[];
    expect(rest).toHaveLength(36);
    expect(new Set([...output_blobs, ...rest]).size).toBe(100);
  });
});

describe("a blob store that fails during a run", () => {
  const unusable = (message: string, code: "INTERNAL" | "QUOTA_EXCEEDED") => (): never => {
    throw new SkillsError(code, message, { facts: code === "INTERNAL" ? {} : { limit: "disk" } });
  };

  test.each(["INTERNAL", "QUOTA_EXCEEDED"] as const)("does not take the result away: %s", async (code) => {
    const store: BlobStore = { ...memoryBlobs(), put: unusable("Blobs cannot be stored.", code) };
    const { call } = await openRunner(
      {},
      ({ leave, print }) => {
        print("y".repeat(5_000));
        leave("a.txt", "x");
        return { type: "returned", value: "z".repeat(5_000) };
      },
      { store },
    );
    expect(await call("run_code", python)).toMatchObject({
      status: "failed",
      error: { type: "OutputLimitError", message: expect.stringContaining("Blobs cannot be stored.") as string },
      output_blobs: [],
    });
  });

  test("does not take the result away when a hold can neither be recorded nor released", async () => {
    const blobs = memoryBlobs();
    const { id } = await blobs.put("me", "text/plain", Buffer.from("x"));
    const script = () => done;
    const holds = [
      () => Promise.reject(new SkillsError("QUOTA_EXCEEDED", "Not noted.", { facts: { limit: "disk" } })),
      () => Promise.resolve(() => Promise.reject(new Error("not ended"))),
    ];
    for (const hold of holds) {
      const { call } = await openRunner({}, script, { store: { ...blobs, hold } });
      expect(await call("run_code", { ...python, input_blobs: [id] })).toMatchObject({ status: "completed" });
    }
  });
});
