import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collectOutput } from "../../../../src/runtime/sandbox/seatbelt/seatbelt-process.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "acp-skills-output-"));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

async function collect(): Promise<{ files: Record<string, string>; end: unknown; skipped: string[] }> {
  const files: Record<string, string> = {};
  let end: { skipped?: { path: string }[] } = {};
  for await (const { header, payload } of collectOutput(root, { exit_code: 0 })) {
    if (header.type === "end") end = header as typeof end;
    else {
      const pieces: Uint8Array[] = [];
      for await (const piece of payload) pieces.push(piece);
      files[String(header["path"])] = Buffer.concat(pieces).toString();
    }
  }
  return { files, end, skipped: (end.skipped ?? []).map(({ path }) => path).sort() };
}

describe("collectOutput", () => {
  it("yields each file, then the end frame", async () => {
    mkdirSync(join(root, "a", "b"), { recursive: true });
    writeFileSync(join(root, "a", "b", "c.txt"), "deep");
    writeFileSync(join(root, "empty"), "");
    const { files, end } = await collect();
    expect(files).toEqual({ "a/b/c.txt": "deep", empty: "" });
    expect(end).toMatchObject({ type: "end", exit_code: 0, skipped: [] });
  });

  it.runIf(process.platform !== "win32")("skips symbolic links, hard links and FIFOs", async () => {
    writeFileSync(join(root, "real"), "real");
    symlinkSync("/etc/passwd", join(root, "link"));
    symlinkSync("/etc", join(root, "directory"));
    writeFileSync(join(root, "first"), "twice");
    linkSync(join(root, "first"), join(root, "second"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    const { files, skipped } = await collect();
    expect(files).toEqual({ real: "real" });
    expect(skipped).toEqual(["directory", "first", "link", "pipe", "second"]);
  });

  it("skips a path that is too long", async () => {
    let at = root;
    for (let depth = 0; depth < 12; depth++) mkdirSync((at = join(at, "d".repeat(100))));
    writeFileSync(join(root, "real"), "real");
    const { files, skipped } = await collect();
    expect(files).toEqual({ real: "real" });
    expect(skipped).toHaveLength(1);
  });

  it("states the size of a file before it is read", async () => {
    writeFileSync(join(root, "holes"), "");
    truncateSync(join(root, "holes"), 2 ** 40);
    for await (const { header, size } of collectOutput(root, {})) {
      if (header.type === "file") expect(size).toBe(2 ** 40);
    }
  });
});
