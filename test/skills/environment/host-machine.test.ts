import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hostMachine } from "../../../src/skills/environment/host-machine.ts";
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

const open = (env: Record<string, string> = {}) =>
  hostMachine({ env: { PATH: bin, A_KEY: "x", ...env }, platform: "linux" });

describeMachine("memoryMachine", () => memoryMachine({ programs: { python3: {} }, variables: ["A_KEY"] }));

describe.skipIf(process.platform === "win32")("on this machine", () => {
  describeMachine("hostMachine", () => {
    install("python3");
    return open();
  });

  test("runs nothing to find a program", () => {
    install("python3");
    expect(open().find("python3")).toBeDefined();
    expect(existsSync(path.join(directory, "ran"))).toBe(false);
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

  test("takes a file of the Microsoft Store for what it is: an offer to install the program", () => {
    const store = path.join(directory, "\\WindowsApps\\");
    install("python3.EXE", "", store);
    const machine = hostMachine({ env: { Path: store }, platform: "win32" });
    expect(machine.system).toBe("windows");
    expect(machine.find("python3")).toMatchObject({ isPlaceholder: true });
  });
});
