import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hostMachine, placeFault, projectsAround } from "../../../src/skills/environment/host-machine.ts";
import { describeMachine } from "../../contract/machine.ts";
import { memoryMachine } from "./memory-machine.ts";

let directory = "";
let bin = "";

beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-machine-")));
  bin = path.join(directory, "bin");
  mkdirSync(bin, { mode: 0o755 });
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Writes a program that notes that it ran. */
function install(name: string, script = "echo Python 3.11.2", place = bin): string {
  const file = path.join(place, name);
  mkdirSync(place, { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho "$PWD $*" >> '${directory}/ran'\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const hasRun = (): boolean => existsSync(path.join(directory, "ran"));
const open = (env: Record<string, string> = {}, projects: readonly string[] = []) =>
  hostMachine({ env: { PATH: bin, A_KEY: "x", ...env }, platform: "linux", projects: () => projects, home: directory });

describeMachine("memoryMachine", () =>
  memoryMachine({ programs: { python3: "3.11.2", unlisted: "1.0.0" }, variables: ["A_KEY"] }),
);

describe.skipIf(process.platform === "win32")("on this machine", () => {
  describeMachine("hostMachine", () => {
    install("python3");
    install("unlisted");
    return open();
  });

  test("runs nothing to find a program, and a known one only for its version", async () => {
    install("python3");
    const machine = open();
    machine.find("python3");
    expect(hasRun()).toBe(false);
    await machine.version("python3");
    expect(hasRun()).toBe(true);
  });

  test("never runs a program that is not known, whatever a skill calls it", async () => {
    install("unlisted");
    install("npm");
    expect(await open().version("unlisted")).toEqual({ reason: "acp-skills does not run this program" });
    expect(await open().version("npm")).toEqual({ reason: "acp-skills does not run this program" });
    expect(hasRun()).toBe(false);
  });

  test("runs a program once, in the root directory and with a small environment", async () => {
    install("python3", `env > '${directory}/env'; echo Python 3.11.2`);
    const machine = open({ SECRET: "s3cr3t", LD_PRELOAD: "", NODE_OPTIONS: "--x" });
    await Promise.all([machine.version("python3"), machine.version("python3")]);
    const { readFileSync } = await import("node:fs");
    expect(readFileSync(path.join(directory, "ran"), "utf8")).toBe("/ --version\n");
    expect(readFileSync(path.join(directory, "env"), "utf8")).not.toMatch(/SECRET|A_KEY|NODE_OPTIONS/);
  });

  test.each([
    ["prints no version", "echo hello", "it does not print one"],
    ["fails", "exit 3", "it does not run, or takes too long"],
    ["prints without end", "while :; do echo xxxxxxxxxxxxxxxx; done", "it does not run, or takes too long"],
  ])("gives the reason if a program %s", async (_what, script, reason) => {
    install("python3", script);
    expect(await open().version("python3")).toEqual({ reason });
  });

  test("ends a program when it is closed", async () => {
    install("python3", "sleep 60");
    const controller = new AbortController();
    const machine = hostMachine({ env: { PATH: bin }, home: directory, signal: controller.signal });
    const asked = machine.version("python3");
    controller.abort();
    expect(await asked).toEqual({ reason: "it does not run, or takes too long" });
  });

  test("does not run a program inside a project, its repository, or node_modules", async () => {
    const project = path.join(directory, "project");
    const inside = path.join(project, "tools");
    install("python3", undefined, inside);
    mkdirSync(path.join(project, ".git"));
    mkdirSync(path.join(project, "deep"));
    const machine = (projects: readonly string[]) =>
      hostMachine({ env: { PATH: inside }, projects: () => projects, home: path.join(directory, "home") });
    for (const cwd of [project, path.join(project, "deep")]) {
      const opened = machine([cwd]);
      expect(opened.find("python3")?.path).toBe(path.join(inside, "python3"));
      expect(await opened.version("python3")).toEqual({ reason: "it is not run, because it is inside a project" });
    }
    const modules = path.join(directory, "node_modules", ".bin");
    install("python3", undefined, modules);
    expect(await open({ PATH: modules }).version("python3")).toEqual({
      reason: "it is not run, because it belongs to a project",
    });
    expect(hasRun()).toBe(false);
  });

  test("does not run a program that a link outside of the project leads to", () => {
    const project = path.join(directory, "project");
    const file = install("python3", undefined, project);
    symlinkSync(file, path.join(bin, "python3"));
    expect(placeFault(path.join(bin, "python3"), [project])).toBe("it is inside a project");
  });

  test("does not run a program that another user can replace", async () => {
    const file = install("python3");
    chmodSync(bin, 0o777);
    expect(await open().version("python3")).toEqual({
      reason: `it is not run, because another user can write to ${bin}`,
    });
    chmodSync(bin, 0o755);
    chmodSync(file, 0o757);
    expect(placeFault(file, [])).toBe(`another user can write to ${file}`);
    chmodSync(file, 0o755);
    expect(placeFault(file, [])).toBeUndefined();
    expect(hasRun()).toBe(false);
  });

  test("ignores entries of PATH that are not absolute", () => {
    install("python3");
    expect(open({ PATH: `bin:.::${path.relative(process.cwd(), bin)}` }).find("python3")).toBeUndefined();
  });

  test("takes the first executable file, not a directory or a file without that right", () => {
    const second = path.join(directory, "second");
    mkdirSync(path.join(bin, "git"));
    writeFileSync(path.join(bin, "jq"), "", { mode: 0o644 });
    const [git, jq] = [install("git", "", second), install("jq", "", second)];
    const machine = open({ PATH: `${bin}:${second}` });
    expect([machine.find("git")?.path, machine.find("jq")?.path]).toEqual([git, jq]);
  });

  test("marks the shims of version managers", () => {
    const shims = path.join(directory, "shims");
    install("python3", "", shims);
    expect(open({ PATH: shims }).find("python3")).toMatchObject({ isShim: true });
  });

  test("takes no repository around the home directory for a project", () => {
    const home = path.join(directory, "home");
    mkdirSync(path.join(home, "work", "repo", "src"), { recursive: true });
    mkdirSync(path.join(home, ".git"));
    mkdirSync(path.join(home, "work", "repo", ".git"));
    const repo = path.join(home, "work", "repo");
    expect(projectsAround(path.join(repo, "src"), home)).toEqual([path.join(repo, "src"), repo]);
    expect(projectsAround(home, home)).toEqual([]);
    expect(projectsAround("/", home)).toEqual([]);
  });

  test("takes a file of the Microsoft Store for what it is: an offer to install the program", () => {
    const store = path.join(directory, "\\WindowsApps\\");
    install("python3.EXE", "", store);
    const machine = hostMachine({ env: { Path: store }, platform: "win32", home: directory });
    expect(machine.system).toBe("windows");
    expect(machine.find("python3")).toMatchObject({ isPlaceholder: true });
  });
});
