import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findDenoParts } from "../../../src/sandbox/pyodide/find-deno.ts";

let root = "";
const path = process.env["PATH"];
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "acp-skills-find-")));
  process.env["PATH"] = join(root, "bin");
});
afterEach(() => {
  process.env["PATH"] = path;
  rmSync(root, { recursive: true });
});

function packageAt(name: string, files: readonly string[] = []): string {
  const directory = join(root, "node_modules", name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
  for (const file of files) writeFileSync(join(directory, file), "");
  return directory;
}

const platforms: Record<string, string> = { x64: "linux-x64-glibc", arm64: "linux-arm64-glibc" };
const platform = process.platform === "linux" ? platforms[process.arch] : undefined;

describe.runIf(platform !== undefined)("deno and pyodide", () => {
  it("are found as npm lays them out where install scripts may not run", () => {
    packageAt("deno", ["bin.cjs"]);
    const deno = join(packageAt(`@deno/${platform ?? ""}`, ["deno"]), "deno");
    const pyodide = packageAt("pyodide");
    expect(findDenoParts([], root)).toEqual({ deno, pyodide });
    expect(findDenoParts([root], "/")).toEqual({ deno, pyodide });
  });

  it("are found where an install script has made a copy", () => {
    const deno = join(packageAt("deno", ["bin.cjs", "deno"]), "deno");
    packageAt("pyodide");
    expect(findDenoParts([], root)).toMatchObject({ deno });
  });

  it("are missing by name", () => {
    expect(findDenoParts([], root)).toBe("deno and pyodide not found.");
    packageAt("pyodide");
    expect(findDenoParts([], root)).toBe("deno not found.");
  });

  it("include a deno on PATH, and not the script that npm puts there", () => {
    const pyodide = packageAt("pyodide");
    const script = join(packageAt("deno", ["bin.cjs"]), "bin.cjs");
    mkdirSync(join(root, "bin"));
    chmodSync(script, 0o755);
    symlinkSync(script, join(root, "bin", "deno"));
    expect(findDenoParts([], root)).toBe("deno not found.");
    rmSync(join(root, "bin", "deno"));
    writeFileSync(join(root, "bin", "deno"), "");
    chmodSync(join(root, "bin", "deno"), 0o755);
    expect(findDenoParts([], root)).toEqual({ deno: join(root, "bin", "deno"), pyodide });
  });
});
