import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { attempt } from "../../../base/failures/system-error.ts";
import { isSkillsError } from "../../../base/errors.ts";
import {
  type HostDirectory,
  makeHostDirectory,
  makeOwnedDirectory,
  sweepLeftovers,
  whereSandboxesReach,
} from "../directory/host-directory.ts";
import { removeTree } from "../directory/private-directory.ts";
import type { TierOptions } from "../drive/sandbox-life.ts";
import { type Python, findPython } from "../find.ts";
import type { Explanation, Json, RunEnd, RunHost, Sandbox, SandboxRun } from "../../sandbox.ts";

/** Tries inside the sandbox what hostile code would try first. Returns the attempts that succeeded. */
const attempts = `
import os

def attempt(found, name, act):
    try:
        found[name] = str(act())
    except BaseException:
        pass

def read(path):
    with open(path, errors="replace") as file:
        return file.read()

def javascript(found, args):
    """Tries to leave Python through the JavaScript program that runs it, where there is one."""
    try:
        from js import Deno, Object
        from pyodide.ffi import run_sync, to_js
    except ImportError:
        return
    attempt(found, "file of Deno", lambda: Deno.readTextFileSync(args["file"]))
    attempt(found, "write of Deno", lambda: Deno.writeTextFileSync(args["new"], "x"))
    attempt(found, "environment of Deno", lambda: Deno.env.get(args["variable"]))
    attempt(found, "program of Deno", lambda: Deno.Command.new(args["program"]).outputSync())
    address = to_js({"hostname": "127.0.0.1", "port": args["port"]}, dict_converter=Object.fromEntries)
    attempt(found, "loopback of Deno", lambda: run_sync(Deno.connect(address)).close())

def main(args):
    import socket
    found = {}
    attempt(found, "file", lambda: read(args["file"]))
    attempt(found, "write", lambda: open(args["new"], "w").write("x"))
    attempt(found, "environment", lambda: os.environ[args["variable"]])
    attempt(found, "loopback", lambda: socket.create_connection(("127.0.0.1", args["port"]), 2).close())
    attempt(found, "program", lambda: __import__("subprocess").check_output([args["program"]], timeout=5))
    attempt(found, "process", lambda: read("/proc/%d/root%s" % (args["pid"], args["file"])))
    attempt(found, "arguments", lambda: read("/proc/%d/cmdline" % args["pid"]).index(args["cmdline"]))
    javascript(found, args)
    return {"ran": args["nonce"], "found": found}
`;

const megabyte = 1024 * 1024;
const limits = {
  timeoutMs: 20_000,
  memoryBytes: 256 * megabyte,
  processes: 16,
  diskBytes: 16 * megabyte,
  printedBytes: 64 * 1024,
  resultBytes: 64 * 1024,
  outputFiles: 1,
};
const nobody = "no such process";
const variable = "ACP_SKILLS_CANARY";

/** Returns the sandbox if it passes the self-test; otherwise closes it and returns why it must not be used. */
export async function testSandbox(sandbox: Sandbox, temporaryDirectory: string): Promise<Sandbox | Explanation> {
  const reason = await probeSandbox(sandbox, temporaryDirectory);
  if (reason === undefined) return sandbox;
  await sandbox.close();
  return { reason, fix: [] };
}

/**
 * Opens a tier that runs Python in directories of this process, if it passes its self-test. Otherwise removes the files of the tier and
 * returns why not. `pythonFix` is the command that installs Python.
 */
export async function openPythonTier(
  { python: wanted, temporaryDirectory, log }: Pick<TierOptions, "python" | "temporaryDirectory" | "log">,
  pythonFix: string,
  open: (python: Python, host: HostDirectory) => Sandbox | Explanation | Promise<Sandbox>,
): Promise<Sandbox | Explanation> {
  const directory = whereSandboxesReach(temporaryDirectory);
  await sweepLeftovers(log, directory);
  const python = await findPython(wanted);
  if ("reason" in python) return { ...python, fix: [pythonFix] };
  const host = await makeHostDirectory(python, directory);
  try {
    const opened = await open(python, host);
    if ("run" in opened) return await testSandbox(opened, directory);
    await removeTree(host.path);
    return opened;
  } catch (error) {
    await removeTree(host.path);
    throw error;
  }
}

/** The self-test of a tier: tries to escape from it. Returns why the tier must not be used, or `undefined`. Does not throw. */
export async function probeSandbox(sandbox: Sandbox, temporaryDirectory: string): Promise<string | undefined> {
  const nonce = randomBytes(16).toString("hex");
  const outer = makeOwnedDirectory(temporaryDirectory);
  const directory = join(outer, randomUUID());
  const bait = { file: join(directory, "file"), new: join(directory, "new"), program: join(directory, "program") };
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  try {
    // Accessible to every user who knows its name: only the sandbox must deny access.
    mkdirSync(directory);
    chmodSync(directory, 0o777);
    writeFileSync(bait.file, `secret ${nonce}`);
    writeFileSync(bait.program, `#!/bin/sh\necho ran > ${bait.new}\n`);
    chmodSync(bait.file, 0o666);
    chmodSync(bait.program, 0o755);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    process.env.ACP_SKILLS_CANARY = nonce;
    // Without /proc, there is no command line to be found.
    const cmdline = attempt(() => readFileSync("/proc/self/cmdline", "utf8"), nobody);
    const args = { ...bait, nonce, port, variable, pid: process.pid, cmdline };
    const end = await sandbox.run(probeRun(args), silentHost, new AbortController().signal);
    const fault = judge(end, nonce);
    if (fault !== undefined) return fault;
    if (connections > 0) return "Self-test failed: the code reached the host's network.";
    if (existsSync(bait.new) || readFileSync(bait.file, "utf8") !== `secret ${nonce}`) {
      return "Self-test failed: the code wrote to files of the host.";
    }
    return undefined;
  } catch (error) {
    return isSkillsError(error) ? error.message : `Self-test failed: ${String(error)}`;
  } finally {
    delete process.env.ACP_SKILLS_CANARY;
    server.close();
    await removeTree(outer);
  }
}

function judge(end: RunEnd, nonce: string): string | undefined {
  if (end.type !== "returned") return `Self-test failed: the code did not run: ${JSON.stringify(end).slice(0, 500)}`;
  const { ran, found } = end.value as { ran?: Json; found?: { readonly [name: string]: Json } };
  if (ran !== nonce || found === undefined) return "Self-test failed: the result is not that of the code.";
  const leaks = Object.keys(found);
  return leaks.length === 0 ? undefined : `Self-test failed: the code reached ${leaks.join(", ")}.`;
}

function probeRun(args: { readonly [key: string]: Json }): SandboxRun {
  return {
    runId: "run_self-probe",
    program: { type: "code", code: attempts, entrypoint: "main", args },
    skills: [],
    brokered: [],
    blobs: [],
    secrets: {},
    network: [],
    limits,
  };
}

const silentHost: RunHost = {
  print: () => undefined,
  hide: (text) => text,
  createBlob: () => Promise.reject(new Error("No blobs are available.")),
  callSkill: () => Promise.reject(new Error("No skills are available.")),
  output: () => Promise.reject(new Error("Unexpected output file.")),
};
