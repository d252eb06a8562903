import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { directoryIdentityOf } from "../../../src/base/paths/identity.ts";
import type { Json, RunEnd, Sandbox, SandboxRun } from "../../../src/runtime/sandbox.ts";
import { environmentOf, openUnconfinedSandbox } from "../../../src/runtime/sandbox/unconfined-sandbox.ts";
import { identifyProcess, pidExists } from "../../../src/base/processes/live-process.ts";
import { recordingHost } from "../../contract/sandbox/recording-host.ts";
import { blobOf, codeRun, python, scriptRun, skillOf, skillRun } from "../../contract/sandbox/runs.ts";
import { samples } from "../../contract/sandbox/samples.ts";

const onPosix = process.platform !== "win32";
const { signal } = new AbortController();

describe.runIf(onPosix)("code without a sandbox", { timeout: 30_000 }, () => {
  let sandbox: Sandbox;
  let directory = "";
  beforeAll(async () => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), "unconfined-")));
    const opened = await openUnconfinedSandbox({ clock: systemClock, log: silentLog, temporaryDirectory: directory });
    if ("reason" in opened) throw new Error(opened.reason);
    sandbox = opened;
  });
  afterAll(async () => {
    await sandbox.close();
    rmSync(directory, { recursive: true });
  });

  async function run(given: SandboxRun): Promise<{ end: RunEnd; host: ReturnType<typeof recordingHost>["record"] }> {
    const host = recordingHost();
    const end = await sandbox.run({ ...given, isolation: "none" }, host, signal);
    return { end, host: host.record };
  }
  async function valueOf(code: string, more: Parameters<typeof codeRun>[1] = {}): Promise<Json> {
    const { end } = await run(codeRun(code, more));
    if (end.type !== "returned") throw new Error(JSON.stringify(end));
    return end.value;
  }

  test("does not start for a run that may not leave the sandbox", async () => {
    const plain = codeRun(samples.echoes);
    expect(sandbox.refuses(plain)).toMatch(/may not run without one/);
    await expect(sandbox.run(plain, recordingHost(), signal)).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
  });

  test("has home and the search path, and no other variables of the host", async () => {
    process.env["ACP_SKILLS_TOKEN"] = process.env["OTHER_API_KEY"] = "never-seen";
    const environment = (await valueOf("import os\ndef main(): return dict(os.environ)\n")) as Record<string, string>;
    delete process.env["ACP_SKILLS_TOKEN"];
    delete process.env["OTHER_API_KEY"];
    expect(environment["HOME"]).toBe(process.env["HOME"] ?? homedir());
    expect(JSON.stringify(environment)).not.toContain("never-seen");
    expect(Object.keys(environment).filter((name) => /^(?:ACP|npm_|NODE|VITEST|SSH|PYTHONPATH)/.test(name))).toEqual(
      [],
    );
  });

  test("starts in its own directory, and other programs can use all its paths", async () => {
    const code = python`
      import os, subprocess, sys

      def main():
          workspace, output = os.environ["RUN_WORKSPACE"], os.environ["RUN_OUTPUT"]
          subprocess.run(["sh", "-c", 'echo made > "$RUN_OUTPUT/made.txt"; echo here > here.txt'], check=True)
          copied = subprocess.run(["cat", runtime.blobs.path("blob:b")], stdout=subprocess.PIPE, check=True).stdout.decode()
          return [os.getcwd() == os.path.realpath(workspace), open("/workspace/here.txt").read(), open("/output/made.txt").read(), copied]
    `;
    const { end, host } = await run(codeRun(code, { blobs: [blobOf("blob:b", "blob")] }));
    expect(end).toMatchObject({ type: "returned", value: [true, "here\n", "made\n", "blob"] });
    expect(host.outputs.get("made.txt")?.toString()).toBe("made\n");
  });

  test("imports mounted skills, whose files have paths that other programs can read", async () => {
    const main = python`
      import subprocess, sys
      from helper import double

      def main(args):
          told = subprocess.run([sys.executable, __file__], stdout=subprocess.PIPE, check=True).stdout.decode()
          return [double(args["n"]), told]

      if __name__ == "__main__":
          print("as a program")
    `;
    const files = { "code/main.py": main, "code/helper.py": "def double(n): return 2 * n\n" };
    const { end } = await run(skillRun(skillOf("a.b", files, "code/main.py"), { n: 21 }));
    expect(end).toMatchObject({ type: "returned", value: [42, "as a program\n"] });
    const importing = "from skills.a.b import main\nmain({'n': 1})\n";
    const { end: raised } = await run(
      codeRun(`${importing}def main(): from_skill()\n`, { skills: [skillOf("a.b", files, "code/main.py")] }),
    );
    expect(raised).toMatchObject({ type: "raised", error: { type: "NameError" } });
  });

  test("has tracebacks with the paths of the sandbox, so that no path of the host is revealed", async () => {
    const files = { "main.py": "def main():\n    raise ValueError('no')\n" };
    const { end } = await run(skillRun(skillOf("a.b", files, "main.py"), {}));
    expect(end).toMatchObject({
      type: "raised",
      error: { details: { file: "/skills/a.b/main.py", line: 2 } },
    });
    expect(JSON.stringify(end)).toContain("raise ValueError('no')");
    expect(JSON.stringify(end)).not.toContain(directory);
  });

  test.each([
    [
      "python",
      'import os, sys\nprint(os.path.basename(os.getcwd()), os.environ["KEY"], sys.argv[1], sys.stdin.read())',
    ],
    ["bash", 'printf "%s %s %s " "$(basename "$PWD")" "$KEY" "$1"; cat; echo'],
    [
      "node",
      'import fs from "node:fs"; import path from "node:path"; console.log(path.basename(process.cwd()), process.env.KEY, process.argv[2], fs.readFileSync(0, "utf8"));',
    ],
  ] as const)("runs scripts in %s with arguments, input and secrets", async (language, text) => {
    const { end, host } = await run(
      scriptRun(language, text, { argv: ["one"], stdin: "in", secrets: { KEY: "key1" } }),
    );
    expect([end, host.stdout.trim()]).toEqual([{ type: "exited", exitCode: 0 }, "workspace key1 one in"]);
  });

  test("knows the project if it was granted, at its real path", async () => {
    const code = 'import os\ndef main(): return os.environ.get("RUN_PROJECT")\n';
    const project = path.join(directory, "project");
    mkdirSync(project);
    expect(await valueOf(code)).toBeNull();
    expect(await valueOf(code, { project: { directory: project, writable: false } })).toBe(project);
  });

  test("does not start if the project was replaced by another directory", async () => {
    const project = path.join(directory, "swapped");
    mkdirSync(project);
    const identity = directoryIdentityOf(project);
    renameSync(project, `${project}-before`);
    mkdirSync(project);
    const given = codeRun(samples.echoes, { project: { directory: project, writable: true, identity } });
    await expect(run(given)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });

  const daemon = python`
    import os, subprocess, sys, time

    def main(args):
        code = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(1000)"
        made = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env={})
        pid = int(made.stdout.readline())
        runtime.blobs.create(str(pid))
        while args["waits"]:
            time.sleep(60)
        return pid
  `;

  test.each([false, true])(
    "ends with all its processes, also in sessions of their own (times out: %s)",
    async (waits) => {
      const { end, host } = await run(codeRun(daemon, { args: { waits }, limits: { timeoutMs: 2_000 } }));
      expect(end.type).toBe(waits ? "limit" : "returned");
      const pid = Number(host.blobs[0]?.content.toString());
      expect(pid).toBeGreaterThan(1);
      expect(pidExists(pid)).toBe(false);
    },
  );

  test("ends with all its processes when acp-skills is killed", async () => {
    const code = python`
      import os, subprocess, sys, time

      def main():
          sleep = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(1000)"
          subprocess.Popen([sys.executable, "-c", sleep])
          time.sleep(1000)
    `;
    const host = spawn(process.execPath, [fileURLToPath(new URL("running-process.js", import.meta.url)), code], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, TMPDIR: directory },
    });
    const [printed] = (await once(host.stdout, "data")) as [Buffer];
    const pid = Number(printed.toString());
    expect(pidExists(pid)).toBe(true);
    host.kill("SIGKILL");
    await expect.poll(() => identifyProcess(pid).started, { timeout: 10_000 }).toBe("");
  });

  test("ends although a process that it started lives on and holds its output open", async () => {
    const code = python`
      import os, subprocess, sys, time

      def main():
          sleep = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(1000)"
          subprocess.Popen([sys.executable, "-c", sleep])
          time.sleep(0.5)
          os.kill(os.getppid(), 9)
          time.sleep(1000)
    `;
    const { end, host } = await run(codeRun(code, { limits: { timeoutMs: 600_000 } }));
    expect(end).toMatchObject({ type: "crashed" });
    const pid = Number(host.stdout.trim());
    expect(pidExists(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
  });

  test("ends if it kills the process that watches it", async () => {
    const code = "import os, time\ndef main():\n    os.kill(os.getppid(), 9)\n    time.sleep(1000)\n";
    expect((await run(codeRun(code))).end).toMatchObject({ type: "crashed" });
  });
});

test("passes no directory of the project's programs, and no relative one, in the search path", () => {
  const roots = {
    skills: "/s",
    blobs: "/b",
    workspace: "/w",
    output: "/o",
    temporary: "/t",
    project: null,
    packages: null,
  };
  const given = ["/project/node_modules/.bin", ".", "", "bin", "/usr/bin", "/opt/bin"].join(path.delimiter);
  const kept = environmentOf(roots, { PATH: given, LC_ALL: "C", AWS_SECRET: "x", LANGUAGES: "x" });
  expect(kept).toEqual({
    LC_ALL: "C",
    PATH: ["/usr/bin", "/opt/bin"].join(path.delimiter),
    RUN_SKILLS: "/s",
    RUN_BLOBS: "/b",
    RUN_WORKSPACE: "/w",
    RUN_OUTPUT: "/o",
  });
});
