import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";

const folder = new URL("../examples/", import.meta.url);
const numbered = readdirSync(folder).filter((file) => /^\d\d-.*\.js$/.test(file));

test("finds examples to run", () => {
  expect(numbered.length).toBeGreaterThanOrEqual(4);
});

test.each([...numbered, "demo.js"])(
  "runs the example %s, which checks its own result",
  async (file) => {
    const { exitCode, all } = await execa(process.execPath, [fileURLToPath(new URL(file, folder))], {
      all: true,
      reject: false,
      timeout: 60_000,
    });
    expect(exitCode, all).toBe(0);
  },
  60_000,
);
