import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { findPython } from "../../../src/runtime/sandbox/find.ts";
import {
  type InstalledRequirements,
  type RequirementsOptions,
  installRequirements,
} from "../../../src/runtime/sandbox/requirements.ts";
import { findPackagesOf, findRequirements } from "../../../src/runtime/sandbox/requirements/package-cache.ts";
import { manualClock } from "../../manual-clock.ts";
import { writeSource, writeWheel } from "./requirements/wheels.ts";

const found = await findPython();
const python = "reason" in found ? undefined : found.executable;
const lacksPip = python === undefined || !succeeds(python, ["-I", "-c", "import pip"]);

const onlyWheels = fileURLToPath(new URL("../../../src/runtime/sandbox/requirements/only_wheels.py", import.meta.url));

let directory = "";
let cache = "";
let wheels = "";
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-requirements-")));
  cache = path.join(directory, "cache");
  wheels = path.join(directory, "wheels");
  mkdirSync(wheels);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

function install(text: string, options: Partial<RequirementsOptions> = {}): Promise<InstalledRequirements> {
  return installRequirements({
    requirements: Buffer.from(text),
    python: python ?? "python3",
    cache,
    wheels,
    tool: "pip",
    log: silentLog,
    ...options,
  });
}

function succeeds(file: string, args: readonly string[]): boolean {
  try {
    execFileSync(file, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function script(name: string, lines: string): string {
  const file = path.join(directory, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${lines}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe.skipIf(lacksPip)("with pip", () => {
  test("names a package cache that is not writable", async () => {
    writeFileSync(cache, "no directory");
    await expect(install("first==1.0\n")).rejects.toMatchObject({
      code: "SKILL_NOT_READY",
      message: expect.stringContaining(`Cannot write to the package cache ${cache}: Error: E`) as string,
    });
  });

  test("installs wheels and their dependencies once, readable for everyone", async () => {
    writeWheel(wheels, "first", {
      requires: ["second>=1"],
      files: { "first/__init__.py": "from second import name\n" },
    });
    writeWheel(wheels, "second");
    const log: string[] = [];
    const before = process.umask(0o077);
    const options = { log: (_level: string, message: string) => void log.push(message) };
    const installed = await install("first==1.0\n", options).finally(() => process.umask(before));
    expect(installed.directory).toBe(path.join(cache, installed.key));
    const code = `import sys; sys.path.insert(0, ${JSON.stringify(installed.directory)}); import first; print(first.name)`;
    expect(execFileSync(python ?? "", ["-I", "-S", "-B", "-c", code], { encoding: "utf8" })).toBe("second\n");
    expect(statSync(installed.directory).mode & 0o777).toBe(0o755);
    expect(statSync(path.join(installed.directory, "first/__init__.py")).mode & 0o777).toBe(0o644);
    expect(readdirSync(path.join(installed.directory, "first"))).toContain("__pycache__");
    expect(await install("first==1.0\n", options)).toEqual(installed);
    expect(log).toHaveLength(1);
    expect(readdirSync(cache)).toEqual([installed.key]);
    expect(await findRequirements(cache, installed.key)).toBe(installed.directory);
  });

  test("does not share packages installed from a wheel directory with other skills", async () => {
    const evil = path.join(directory, "evil");
    writeWheel(evil, "first", { files: { "first.py": "evil = True\n" } });
    writeWheel(wheels, "first");
    const poisoned = await install("first\n", { wheels: evil, skill: "/skills/evil" });
    const packagesOf = async (skill: string) =>
      await findPackagesOf(skill, { requirements: Buffer.from("first\n"), python: python ?? "", cache });
    expect(await packagesOf("/skills/evil")).toBe(poisoned.directory);
    expect(await packagesOf("/skills/good")).toBeUndefined();
    const good = await install("first\n", { skill: "/skills/good" });
    expect(await packagesOf("/skills/good")).toBe(good.directory);
    expect(readFileSync(path.join(good.directory, "first.py"), "utf8")).not.toContain("evil");
    expect(await packagesOf("/skills/evil")).toBe(poisoned.directory);
    // A wheel directory is identified by its content, not by its path.
    const moved = path.join(directory, "moved");
    renameSync(wheels, moved);
    expect(await install("first\n", { wheels: moved })).toEqual(good);
    writeWheel(moved, "first", { files: { "first.py": "other = True\n" } });
    expect((await install("first\n", { wheels: moved })).key).not.toBe(good.key);
  });

  test("rejects wheels that exceed the size limit when unpacked, and leaves nothing behind", async () => {
    writeWheel(wheels, "first", { files: { "first.py": "", "first.bin": "\0".repeat(3 * 1024 * 1024) } });
    const installing = install("first\n", { maxBytes: 2 * 1024 * 1024 });
    await expect(installing).rejects.toMatchObject({
      code: "SKILL_NOT_READY",
      message: "The unpacked packages exceed 2 MiB; nothing was installed.",
    });
    expect(readdirSync(cache)).toEqual([]);
  });

  test.runIf(process.getuid !== undefined)(
    "does not use a cache that other users own or can write to, nor one below such a directory",
    async () => {
      const installed = await install("");
      const find = () => findRequirements(cache, installed.key);
      expect(await find()).toBe(installed.directory);
      const refusals = async (sentence: string) => {
        await expect(install("", { wheels: directory })).rejects.toThrow(sentence);
        await expect(find()).rejects.toThrow(sentence);
      };
      chmodSync(cache, 0o777);
      await refusals(`others may write in it; take that right away: chmod go-w ${cache}`);
      chmodSync(cache, 0o755);
      chmodSync(directory, 0o777);
      await refusals(`others may write in ${directory}; take that right away: chmod go-w ${directory}`);
      chmodSync(directory, 0o1777);
      expect(await find()).toBe(installed.directory);
      if (process.getuid?.() !== 0) return;
      chmodSync(directory, 0o755);
      chownSync(cache, 65_534, 65_534);
      await refusals("it belongs to another user");
      chownSync(cache, 0, 0);
      chownSync(directory, 65_534, 65_534);
      await refusals(`${directory} belongs to another user`);
    },
  );

  test("names a missing package and leaves nothing behind", async () => {
    writeWheel(wheels, "first", { requires: ["nosuch>=3"] });
    const installing = install("first\n");
    await expect(installing).rejects.toMatchObject({ code: "SKILL_NOT_READY" });
    await expect(installing).rejects.toThrow(
      /Installing the requirements failed: .*nosuch>=3.*Only wheels are installed/,
    );
    expect(readdirSync(cache)).toEqual([]);
  });

  test("never builds a package that is available only as source", async () => {
    const canary = path.join(directory, "canary");
    writeSource(path.join(wheels, "evil-1.0.zip"), "evil", `open(${JSON.stringify(canary)}, "w")`);
    await expect(install("evil\n")).rejects.toThrow(/No matching distribution found for evil/);
    expect(existsSync(canary)).toBe(false);
  });

  test("never builds a package from source, even when pip is asked to", () => {
    const canary = path.join(directory, "canary");
    const source = path.join(directory, "evil-1.0.zip");
    writeSource(source, "evil", `open(${JSON.stringify(canary)}, "w")`);
    const command = [onlyWheels, "install", "--no-index", "--target", path.join(directory, "target"), source];
    expect(() => execFileSync(python ?? "python3", ["-I", ...command], { stdio: "pipe" })).toThrow(
      /only wheels are installed, and this package must be built from source/,
    );
    expect(existsSync(canary)).toBe(false);
  });

  test("never runs git for a repository that a wheel requires", async () => {
    const canary = path.join(directory, "canary");
    script("bin/git", `touch ${canary}`);
    vi.stubEnv("PATH", `${path.join(directory, "bin")}:${process.env["PATH"] ?? ""}`);
    writeWheel(wheels, "carrier", { requires: ["evil @ git+https://nowhere.invalid/evil"] });
    await expect(install("carrier\n")).rejects.toMatchObject({ code: "SKILL_NOT_READY" });
    expect(existsSync(canary)).toBe(false);
  });

  test.each(["other-1.0-py3-none-any.whl", "other-1.0.zip"])(
    "rejects a dependency that a wheel requires by URL: %s",
    async (file) => {
      writeWheel(path.join(directory, "elsewhere"), "other");
      writeSource(path.join(directory, "elsewhere", "other-1.0.zip"), "other", "");
      const address = pathToFileURL(path.join(directory, "elsewhere", file)).href;
      writeWheel(wheels, "carrier", { requires: [`other @ ${address}`] });
      await expect(install("carrier\n")).rejects.toThrow(/other is required by URL/);
      expect(readdirSync(cache)).toEqual([]);
    },
  );

  test("does not write the console scripts of a wheel, whose names may contain paths", async () => {
    const names = ["tool", "../tool", path.join(directory, "canary")];
    const entries = `[console_scripts]\n${names.map((name) => `${name} = first:main\n`).join("")}`;
    writeWheel(wheels, "first", { files: { "first.py": "", "first-1.0.dist-info/entry_points.txt": entries } });
    const { directory: installed } = await install("first");
    expect(readdirSync(installed).sort()).toEqual(["__pycache__", "first-1.0.dist-info", "first.py"]);
    expect(existsSync(path.join(directory, "canary"))).toBe(false);
  });

  test("gives two concurrent installations of the same requirements the same complete directory", async () => {
    writeWheel(wheels, "first");
    const [one, other] = await Promise.all([install("first"), install("first")]);
    expect(one).toEqual(other);
    expect(readdirSync(cache)).toEqual([one.key]);
    expect(readdirSync(one.directory)).toContain("first.py");
  });

  test("uses another directory when the bytes of the requirements differ", async () => {
    writeWheel(wheels, "first");
    const [one, other] = [await install("first"), await install("first # twice")];
    expect(one.key).not.toBe(other.key);
  });

  test.skipIf(python === undefined || !succeeds(python, ["-I", "-c", "import ensurepip"]))(
    "uses pip from a temporary virtual environment if the interpreter has none",
    async () => {
      writeWheel(wheels, "first");
      const without = script("python", `case "$*" in *"import pip"*) exit 1;; esac\nexec ${python ?? ""} "$@"`);
      const installed = await install("first", { python: without });
      expect(readdirSync(installed.directory).filter((name) => !name.startsWith("__"))).toEqual([
        "first-1.0.dist-info",
        "first.py",
      ]);
      expect(readdirSync(cache)).toEqual([installed.key]);
    },
  );
});

describe.skipIf(python === undefined)("with any installer", () => {
  /** Creates a fake `uv` that runs these lines of shell; `$target` is where to install. */
  function fakeUv(lines: string, version = "0.11.15"): void {
    script(
      "bin/uv",
      `[ "$1" = --version ] && exec echo "uv ${version} (by hand)"\necho "$@" > ${path.join(directory, "arguments")}\ntarget=$6\n${lines}`,
    );
    vi.stubEnv("PATH", `${path.join(directory, "bin")}:${process.env["PATH"] ?? ""}`);
  }

  test("prefers uv, restricts it to wheels, and passes the wheel directory", async () => {
    fakeUv(
      'cp "$8" "$target/seen.txt"; ln -s /etc/passwd "$target/link"; touch "$target/set"; chmod 6777 "$target/set"',
    );
    const installed = await installRequirements({
      requirements: Buffer.from("first==1 # why\n"),
      python: python ?? "",
      cache,
      wheels,
      log: silentLog,
    });
    const asked = readFileSync(path.join(directory, "arguments"), "utf8");
    expect(asked).toMatch(/^pip install --python \S+ --target \S+ --requirements \S+ --only-binary :all: /);
    expect(asked).toContain(`--no-config --no-index --find-links ${wheels}\n`);
    expect(readFileSync(path.join(installed.directory, "seen.txt"), "utf8")).toBe("first==1\n");
    // Links and unneeded mode bits are removed.
    expect(readdirSync(installed.directory).sort()).toEqual(["seen.txt", "set"]);
    expect(statSync(path.join(installed.directory, "set")).mode & 0o7777).toBe(0o755);
  });

  test.each([
    ["0.11.14", false],
    ["0.9.30", false],
    ["none", false],
    ["0.11.15", true],
    ["0.12.0", true],
    ["1.0.0", true],
  ])("uses uv %s: %s, because old versions write scripts to any path that a wheel names", async (version, asked) => {
    fakeUv("", version);
    await install("first\n", { tool: "uv" }).catch(() => undefined);
    expect(existsSync(path.join(directory, "arguments"))).toBe(asked);
  });

  test("kills an installer that exceeds the size limit while it runs", async () => {
    fakeUv("head -c 100000 /dev/zero > filled; exec sleep 600");
    const clock = manualClock();
    const installing = install("first\n", { tool: "uv", maxBytes: 50_000, clock });
    const over = new AbortController();
    installing.catch(() => over.abort());
    while (!over.signal.aborted) {
      clock.pass(250);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect(installing).rejects.toThrow("The unpacked packages exceed 0 MiB");
    expect(readdirSync(cache)).toEqual([]);
  });

  test("leaves nothing behind when aborted, and rejects with the abort reason", async () => {
    fakeUv(`touch ${path.join(directory, "started")}; exec sleep 60`);
    const stop = new AbortController();
    const installing = install("first\n", { tool: "uv", signal: stop.signal });
    const settled = expect(installing).rejects.toThrow("no longer wanted");
    while (!existsSync(path.join(directory, "started"))) await new Promise(setImmediate);
    stop.abort(new Error("no longer wanted"));
    await settled;
    expect(readdirSync(cache)).toEqual([]);
    await expect(install("first\n", { signal: stop.signal })).rejects.toThrow("no longer wanted");
  });

  test("leaves nothing behind when the installer fails half-way", async () => {
    fakeUv('touch "$target/half.py"; echo "error: no space" >&2; exit 1');
    await expect(install("first\n", { tool: "uv" })).rejects.toThrow(/no space/);
    expect(readdirSync(cache)).toEqual([]);
  });

  test("removes staging directories of dead processes and keeps those of live ones", async () => {
    const dead = path.join(cache, ".staging-4194305-abc");
    const alive = path.join(cache, `.staging-${process.ppid}-abc`);
    for (const staging of [dead, alive]) mkdirSync(path.join(staging, "packages"), { recursive: true });
    const { key } = await install("# nothing\n");
    expect(readdirSync(cache).sort()).toEqual([path.basename(alive), key].sort());
  });

  test("needs no installer if the file lists no requirements", async () => {
    vi.stubEnv("PATH", "");
    const { directory: empty } = await install("\n# nothing\n", { tool: "uv" });
    expect(readdirSync(empty)).toEqual([]);
  });

  test("rejects a file with options before it starts a process", async () => {
    const installing = install("good\n--index-url https://evil.example/simple\n-e .\n", { python: "/nowhere" });
    await expect(installing).rejects.toMatchObject({ code: "SKILL_NOT_READY" });
    await expect(installing).rejects.toThrow(/line 2: only a name .*no options.*; line 3: only/);
    expect(existsSync(cache)).toBe(false);
  });

  test("says what to install if no installer is available", async () => {
    vi.stubEnv("PATH", "/nowhere");
    await expect(install("first", { tool: "uv" })).rejects.toThrow(/Install uv, python3-venv or python3-pip/);
    expect(readdirSync(cache)).toEqual([]);
  });

  test("rejects an interpreter that does not run with SANDBOX_UNAVAILABLE", async () => {
    await expect(install("first", { python: path.join(directory, "absent") })).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
    });
  });
});

test("findRequirements returns undefined for unknown and malformed keys", async () => {
  mkdirSync(path.join(cache, "x"), { recursive: true });
  for (const key of ["x", "", ".", "..", "../cache/x", "0".repeat(64)])
    expect(await findRequirements(cache, key)).toBeUndefined();
});
