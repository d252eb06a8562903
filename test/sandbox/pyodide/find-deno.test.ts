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

describe.runIf(platform !== undefined)("findDenoParts", () => {
  it("finds the platform package of deno if install scripts are disabled", () => {
    packageAt("deno", ["bin.cjs"]);
    const deno = join(packageAt(`@deno/${platform ?? ""}`, ["deno"]), "deno");
    const pyodide = packageAt("pyodide");
    expect(findDenoParts([], root)).toEqual({ deno, pyodide });
    expect(findDenoParts([root], "/")).toEqual({ deno, pyodide });
  });

  it("finds the copy of deno that its install script makes", () => {
    const deno = join(packageAt("deno", ["bin.cjs", "deno"]), "deno");
    packageAt("pyodide");
    expect(findDenoParts([], root)).toMatchObject({ deno });
  });

  it("names the missing packages", () => {
    expect(findDenoParts([], root)).toBe("deno and pyodide not found.");
    packageAt("pyodide");
    expect(findDenoParts([], root)).toBe("deno not found.");
  });

  it("finds a deno binary on PATH and ignores the script of the npm package", () => {
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
