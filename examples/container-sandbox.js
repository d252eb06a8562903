// A sandbox of one's own: each run is a container that has no network and nothing but its files. `?command=podman&image=…` after the
// file's URL chooses others. It replaces ours; approvals, blobs, limits and the ledger stay as they are.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { SkillsError } from "acp-skills";

/** @typedef {import("acp-skills/ports").SandboxRun} SandboxRun */
/** @typedef {import("acp-skills/ports").RunHost} RunHost */
/** @typedef {import("acp-skills/ports").RunEnd} RunEnd */
/** @typedef {import("acp-skills/ports").Json} Json */
/** @typedef {import("acp-skills/ports").RunError} RunError */
/**
 * What the container sends, one JSON object a line. All of it is untrusted.
 * @typedef {{ output?: string, size?: number, chunk?: string, blob?: string, kind?: string, call?: string, args?: Json }} Request
 * @typedef {Request & { value?: Json, error?: RunError, end?: { timeout?: boolean, status?: number } }} Message
 */

const { searchParams } = new URL(import.meta.url);
const command = searchParams.get("command") ?? process.env["CONTAINER_COMMAND"] ?? "docker";
const image = searchParams.get("image") ?? "docker.io/library/python:3.13-slim";
const driver = fileURLToPath(new URL("container-sandbox.py", import.meta.url));
/** After its own limit, a container that does not end is killed. */
const graceMs = 5_000;

/** @type {import("acp-skills/ports").OpenPort<"sandbox">} */
export default function openSandbox({ log }) {
  /** @type {Set<AbortController>} */
  const running = new Set();
  let isClosed = false;
  return {
    tier: "container",
    lacks: {
      "network access": "Containers of this example have no network.",
      "project access": "Containers of this example do not mount the project.",
      "installed packages": "Install them in the image instead.",
      "scripts in Node": "The image has no Node.",
    },
    refuses: whyNot,
    async run(run, host, signal) {
      const reason = isClosed ? "The sandbox was closed." : whyNot(run);
      if (reason !== undefined) throw new SkillsError("SANDBOX_UNAVAILABLE", reason);
      const closing = new AbortController();
      running.add(closing);
      const directory = await mkdtemp(join(tmpdir(), "acp-skills-container-"));
      try {
        await writeInputs(directory, run);
        const ended = AbortSignal.any([signal, closing.signal]);
        return ended.aborted ? { type: "cancelled" } : await runContainer(directory, run, host, ended);
      } finally {
        running.delete(closing);
        await rm(directory, { recursive: true, force: true }).catch((/** @type {unknown} */ error) =>
          log("warning", String(error)),
        );
      }
    },
    async close() {
      isClosed = true;
      for (const controller of running) controller.abort();
      // They are gone when their runs have ended.
      while (running.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    },
  };
}

/** @param {import("acp-skills/ports").RunNeeds} needs */
function whyNot({ program, network, project, packages, isolation }) {
  if (isolation === "none") return "A container always isolates.";
  if (network.length > 0) return "Containers of this example have no network.";
  if (project !== undefined) return "Containers of this example do not mount the project.";
  if (packages !== undefined) return "Install packages in the image of the containers instead.";
  if (program.type === "script" && program.language === "node") return "The image of the containers has no Node.";
  return undefined;
}

/**
 * The files of skills, and blobs, which the container can only read.
 * @param {string} directory
 * @param {SandboxRun} run
 */
async function writeInputs(directory, { skills, blobs }) {
  for (const part of ["skills", "blobs"]) await mkdir(join(directory, part));
  for (const { name, files } of skills)
    for (const file of files) await writeFileOf(join(directory, "skills", name), file.path, file);
  for (const blob of blobs) await writeFileOf(join(directory, "blobs"), blob.id.replace(/^blob:/, ""), blob);
}

/**
 * @param {string} root
 * @param {string} path
 * @param {{ size: number, read: () => AsyncIterable<Uint8Array> }} content
 */
async function writeFileOf(root, path, { size, read }) {
  if (!isInside(path)) throw new SkillsError("SANDBOX_UNAVAILABLE", `${JSON.stringify(path)} is no path of a file.`);
  const target = join(root, path);
  await mkdir(dirname(target), { recursive: true });
  const file = await open(target, "wx");
  let written = 0;
  try {
    for await (const chunk of read()) {
      written += chunk.length;
      if (written > size) break;
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
  if (written !== size)
    throw new SkillsError("SANDBOX_UNAVAILABLE", `${path} has not the size that it was said to have.`);
}

/** @param {string} path */
function isInside(path) {
  return path !== "" && !path.startsWith("/") && posix.normalize(path) === path && !path.split("/").includes("..");
}

/**
 * @param {string} directory
 * @param {SandboxRun} run
 * @param {RunHost} host
 * @param {AbortSignal} signal
 * @returns {Promise<RunEnd>}
 */
async function runContainer(directory, run, host, signal) {
  const { limits, program, secrets, skills, runId } = run;
  const name = `acp-skills-${randomUUID()}`;
  const scratch = (/** @type {string} */ path) => ["--tmpfs", `${path}:rw,mode=1777,size=${limits.diskBytes}`];
  const shown = (/** @type {string} */ from, /** @type {string} */ to) => ["-v", `${from}:${to}:ro`];
  const child = spawn(
    command,
    [
      ...["run", "--rm", "-i", "--name", name, "--network", "none", "--read-only", "--cap-drop", "ALL"],
      ...["--security-opt", "no-new-privileges", "--user", "65534:65534", "--ipc", "none"],
      ...["--memory", String(limits.memoryBytes), "--pids-limit", String(limits.processes + 2)],
      ...["/workspace", "/output", "/tmp"].flatMap(scratch),
      ...shown(join(directory, "skills"), "/skills"),
      ...shown(join(directory, "blobs"), "/blobs"),
      ...shown(driver, "/driver.py"),
      ...["-w", "/workspace", image, "python3", "-I", "/driver.py"],
    ],
    { stdio: "pipe" },
  );
  const exited = /** @type {Promise<[number | null]>} */ (once(child, "close"));
  // What could not be started ends as a stream without messages.
  exited.catch(() => undefined);
  child.stdin.on("error", () => undefined);
  /** @type {RunEnd | undefined} */
  let decided;
  const end = (/** @type {RunEnd} */ how) => {
    decided ??= how;
    // The client alone would leave the container running.
    spawn(command, ["kill", name], { stdio: "ignore" }).on("error", () => undefined);
  };
  const cancel = () => end({ type: "cancelled" });
  signal.addEventListener("abort", cancel);
  const timer = setTimeout(() => end({ type: "limit", limit: "timeout" }), limits.timeoutMs + graceMs);
  let printed = 0;
  child.stderr.on("data", (/** @type {Buffer} */ bytes) => {
    if (decided !== undefined) return;
    const allowed = bytes.subarray(0, limits.printedBytes - printed);
    printed += allowed.length;
    if (allowed.length > 0) host.print("stdout", allowed);
    if (allowed.length < bytes.length) end({ type: "limit", limit: "output" });
  });
  const calls = new AbortController();
  const start = { program, secrets, run_id: runId, timeout_ms: limits.timeoutMs };
  const mounted = skills.map((skill) => ({ name: skill.name, entry: skill.entry }));
  child.stdin.write(`${JSON.stringify({ ...start, skills: mounted })}\n`);
  const received = new Received(child.stdout, limits.resultBytes);
  try {
    const found = await received.read(host, calls.signal, (answer) => child.stdin.write(`${JSON.stringify(answer)}\n`));
    const [code] = await exited;
    // Docker's own failures, such as a daemon or an image that is missing.
    if (code === 125) throw new Error("it exited with 125");
    return decided ?? toRunEnd(found, run);
  } catch (error) {
    end({ type: "crashed", detail: String(error) });
    if (received.hostError !== undefined) throw received.hostError;
    const how = decided;
    if (how?.type !== "crashed") return /** @type {RunEnd} */ (how);
    throw new SkillsError("SANDBOX_UNAVAILABLE", `${command} could not run the container: ${String(error)}`);
  } finally {
    calls.abort();
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
  }
}

/** What was received until the container ended. @typedef {{ result?: Message, end?: Message["end"] }} Found */

class Received {
  /** An error of the host's own callbacks. @type {Error | undefined} */
  hostError;
  /** @type {AsyncGenerator<Message, void>} */
  #messages;
  #outputs = 0;

  /**
   * @param {AsyncIterable<Buffer>} stream
   * @param {number} resultBytes
   */
  constructor(stream, resultBytes) {
    this.#messages = readLines(stream, resultBytes + 100_000);
  }

  /**
   * @param {RunHost} host
   * @param {AbortSignal} signal
   * @param {(answer: object) => void} answer
   */
  async read(host, signal, answer) {
    /** @type {Found} */
    const found = {};
    for (;;) {
      const { value: message } = await this.#messages.next();
      if (message === undefined) return found;
      const { output, size = 0, blob, kind = "", call, args = null } = message;
      if (output !== undefined) await this.#passOn(host, output, size);
      else if (blob !== undefined) void this.#answer(answer, () => host.createBlob(kind, bytesOf(blob)));
      else if (call !== undefined) void this.#answer(answer, () => host.callSkill(call, args, signal));
      else if (message.end !== undefined) found.end = message.end;
      else found.result ??= message;
    }
  }

  /**
   * @param {RunHost} host
   * @param {string} output
   * @param {number} size
   */
  async #passOn(host, output, size) {
    const messages = this.#messages;
    if (!isInside(output) || ++this.#outputs > 1_000) throw new Error(`an output file has the path ${output}`);
    async function* content() {
      for (let left = size; left > 0;) {
        const { value: message } = await messages.next();
        const bytes = Buffer.from(message?.chunk ?? "", "base64");
        if (bytes.length === 0 || bytes.length > left) throw new Error(`${output} has another size than was said`);
        left -= bytes.length;
        yield bytes;
      }
    }
    try {
      await host.output(output, size, content());
    } catch (error) {
      this.hostError = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }

  /**
   * @param {(answer: object) => void} answer
   * @param {() => Promise<unknown>} ask
   */
  async #answer(answer, ask) {
    try {
      answer({ value: await ask() });
    } catch (error) {
      answer({ error: error instanceof Error ? error.message : JSON.stringify(error) });
    }
  }
}

/** @param {string} base64 */
async function* bytesOf(base64) {
  yield await Promise.resolve(Buffer.from(base64, "base64"));
}

/**
 * @param {AsyncIterable<Buffer>} stream
 * @param {number} longest
 * @returns {AsyncGenerator<Message, void>}
 */
async function* readLines(stream, longest) {
  let text = Buffer.alloc(0);
  for await (const bytes of stream) {
    text = Buffer.concat([text, bytes]);
    for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10)) {
      yield readMessage(text.toString("utf8", 0, at));
      text = text.subarray(at + 1);
    }
    if (text.length > longest) throw new Error("a message is longer than a result may be");
  }
}

/**
 * @param {string} line
 * @returns {Message}
 */
function readMessage(line) {
  /** @type {unknown} */
  const parsed = JSON.parse(line);
  const fields = /** @type {Record<string, unknown> | null} */ (parsed);
  for (const name of ["output", "chunk", "blob", "kind", "call"])
    if (!["string", "undefined"].includes(typeof fields?.[name])) throw new Error(`${name} of a message is no text`);
  if (!["number", "undefined"].includes(typeof fields?.["size"])) throw new Error("the size of a file is no number");
  return fields ?? {};
}

/**
 * @param {Found} found
 * @param {SandboxRun} run
 * @returns {RunEnd}
 */
function toRunEnd({ result, end }, { program }) {
  if (end?.timeout === true) return { type: "limit", limit: "timeout" };
  const { status = -1 } = end ?? {};
  if (program.type === "script") return { type: "exited", exitCode: status & 255 };
  if (result?.error !== undefined) return { type: "raised", error: result.error };
  const { value } = result ?? {};
  if (value === undefined) return { type: "crashed", detail: `the program ended with status ${status}` };
  if (typeof value !== "object" || value === null || !("output" in value)) return { type: "returned", value };
  const { output = null, summary } = value;
  return { type: "returned", value: output, ...(typeof summary === "string" && { summary }) };
}
