import { PassThrough, Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { silentLog } from "../../../../src/base/log.ts";
import {
  drivePyodideRun,
  sandboxFilesOf,
  sendFiles,
} from "../../../../src/runtime/sandbox/pyodide/drive-pyodide-run.ts";
import { type FrameReader, readFrames, sendFrame } from "../../../../src/runtime/sandbox/frames.ts";
import type { PyodideProcess } from "../../../../src/runtime/sandbox/pyodide/pyodide-process.ts";
import { type HostRecord, recordingHost } from "../../../contract/sandbox/recording-host.ts";
import { codeRun, scriptRun } from "../../../contract/sandbox/runs.ts";
import { type ManualClock, manualClock } from "../../../manual-clock.ts";
import type { RunEnd, RunHost, SandboxRun, MountedFile } from "../../../../src/runtime/sandbox.ts";

/** A fake child process: sends what the test says, and exits when it is killed. */
function fakeChild(verdict?: "memory" | "timeout") {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let die = (): void => undefined;
  const exited = new Promise<void>((resolve) => (die = resolve));
  const child: PyodideProcess = {
    first: { header: { type: "ready" }, headerBytes: 0, size: 0, payload: new PassThrough() },
    frames: readFrames(stdout),
    stdin,
    exited,
    verdict: () => verdict,
    lastWords: () => "It was ended by SIGKILL.",
    kill: () => {
      stdout.end();
      die();
    },
    end: () => Promise.resolve(),
  };
  const say = (header: { type: string; [key: string]: unknown }, payload = ""): void => {
    sendFrame(stdout, payload === "" ? header : { ...header, bytes: payload.length });
    stdout.write(payload);
  };
  return { child, say, heard: readFrames(stdin), exit: () => child.kill() };
}

interface Driven {
  readonly say: (header: { type: string; [key: string]: unknown }, payload?: string) => void;
  readonly heard: FrameReader;
  readonly exit: () => void;
  readonly clock: ManualClock;
  readonly record: HostRecord;
  readonly cancel: AbortController;
}

/** Drives a run to its end; `act` plays the child once it has received the run. */
async function drive(
  act: (driven: Driven) => void | Promise<void>,
  { run = codeRun(""), answers, verdict }: { run?: SandboxRun; answers?: Partial<RunHost>; verdict?: "memory" } = {},
): Promise<{ end: RunEnd; record: HostRecord }> {
  const { child, say, heard, exit } = fakeChild(verdict);
  const clock = manualClock();
  const host = recordingHost(answers);
  const cancel = new AbortController();
  const end = drivePyodideRun(child, run, [], host, cancel.signal, { clock, log: silentLog });
  expect((await heard.next())?.header.type).toBe("start");
  expect((await heard.next())?.header.type).toBe("run");
  await act({ say, heard, exit, clock, record: host.record, cancel });
  return { end: await end, record: host.record };
}

const returned = { type: "returned", value: 1 };
const end = { type: "end", exit_code: 0, skipped: [] };
const timeout = { type: "limit", limit: "timeout" };

describe("a run in the pyodide tier", () => {
  it("passes on its output, files and result", async () => {
    const seen = await drive(({ say }) => {
      say({ type: "print", stream: "stdout" }, "hello");
      say(returned);
      say({ type: "file", path: "a/b" }, "content");
      say(end);
    });
    expect(seen.end).toEqual(returned);
    expect(seen.record.stdout).toBe("hello");
    expect(seen.record.outputs.get("a/b")?.toString()).toBe("content");
  });

  it("gets replies to its calls", async () => {
    const seen = await drive(async ({ say, heard }) => {
      say({ type: "create_blob", id: 7, kind: "text/plain" }, "kept");
      expect((await heard.next())?.header).toMatchObject({ type: "reply", id: 7, value: "blob:made-1" });
      say(returned);
      say(end);
    });
    expect(seen.end).toEqual(returned);
  });

  it("reports the exit code of a script", async () => {
    const run = scriptRun("python", "");
    expect((await drive(({ say }) => say({ ...end, exit_code: 3 }), { run })).end).toEqual({
      type: "exited",
      exitCode: 3,
    });
  });

  it.each([
    ["an unknown frame", { type: "become_root" }],
    ["a second result", returned],
    ["a call after its result", { type: "call_skill", id: 1, name: "there", args: {} }],
    ["a file outside the output directory", { type: "file", path: "../x" }],
    ["a file whose path is not a string", { type: "file", path: 7 }],
    ["print on a stream of the host", { type: "print", stream: "control" }],
  ])("crashes when it sends %s", async (_what, header) => {
    const seen = await drive(({ say }) => {
      say(returned);
      say(header);
    });
    expect(seen.end.type).toBe("crashed");
    expect(seen.record.calls).toEqual([]);
    expect(seen.record.outputs.size).toBe(0);
  });

  it("that exits without a result is a crash that states the signal", async () => {
    const seen = await drive(({ exit }) => exit());
    expect(seen.end).toEqual({ type: "crashed", detail: expect.stringContaining("SIGKILL") as string });
  });

  it("that the child's watchdog stopped ends by that limit, even if it sent a result", async () => {
    const seen = await drive(
      ({ say, exit }) => {
        say(returned);
        exit();
      },
      { verdict: "memory" },
    );
    expect(seen.end).toEqual({ type: "limit", limit: "memory" });
  });

  it("that times out may still hand over its files", async () => {
    const run = codeRun("", { limits: { timeoutMs: 1000 } });
    const seen = await drive(
      ({ say, clock }) => {
        clock.pass(1000);
        say({ type: "file", path: "early" }, "x");
        say({ ...end, stopped: "timeout" });
      },
      { run },
    );
    expect(seen.end).toEqual(timeout);
    expect([...seen.record.outputs.keys()]).toEqual(["early"]);
  });

  it("that times out and does not respond is killed", async () => {
    const run = codeRun("", { limits: { timeoutMs: 1000 } });
    expect((await drive(({ clock }) => clock.pass(3000), { run })).end).toEqual(timeout);
  });

  it("ends as cancelled when it is aborted", async () => {
    expect((await drive(({ cancel }) => cancel.abort())).end).toEqual({ type: "cancelled" });
  });

  it("ends when it prints more than the limit", async () => {
    const run = codeRun("", { limits: { printedBytes: 3 } });
    const seen = await drive(({ say }) => say({ type: "print", stream: "stderr" }, "hello"), { run });
    expect(seen.end).toEqual({ type: "limit", limit: "output" });
    expect(seen.record.stderr).toBe("hel");
  });

  it("crashes when it leaves more files than the limit", async () => {
    const run = codeRun("", { limits: { outputFiles: 1 } });
    const seen = await drive(
      ({ say }) => {
        say(returned);
        say({ type: "file", path: "a" }, "1");
        say({ type: "file", path: "b" }, "2");
      },
      { run },
    );
    expect(seen.end.type).toBe("crashed");
    expect([...seen.record.outputs.keys()]).toEqual(["a"]);
  });
});

async function* pieces(...content: string[]): AsyncGenerator<Uint8Array> {
  for (const piece of content) yield await Promise.resolve(Buffer.from(piece));
}

function file(path: string, content = ""): MountedFile {
  return { path, size: Buffer.byteLength(content), read: () => pieces(content) };
}

function collector(): { stream: Writable; written: Buffer[] } {
  const written: Buffer[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    write(piece: Buffer, _encoding, done) {
      written.push(piece);
      setImmediate(done);
    },
  });
  return { stream, written };
}

describe("the files of a run in the pyodide tier", () => {
  it("have the documented paths, and blobs have two names", () => {
    const blob = { id: "blob:b1", kind: "text/plain", size: 0, read: () => pieces() };
    const files = sandboxFilesOf({ skills: [{ name: "a.b", files: [file("code/main.py")] }], blobs: [blob] });
    expect(files.map(({ path, alias }) => [path, alias])).toEqual([
      ["/skills/a.b/code/main.py", undefined],
      ["/blobs/blob:b1", "/blobs/b1"],
    ]);
  });

  it("never have a path outside their skill, whatever their names", () => {
    const name = fc.string({ unit: fc.constantFrom("a", ".", "/", "\\", "\0", "é"), maxLength: 12 });
    fc.assert(
      fc.property(name, name, (skill, path) => {
        let files;
        try {
          files = sandboxFilesOf({ skills: [{ name: skill, files: [file(path)] }], blobs: [] });
        } catch {
          return;
        }
        const [laid] = files;
        const segments = laid?.path.split("/").slice(1) ?? [];
        expect(segments.slice(0, 2)).toEqual(["skills", skill]);
        expect(segments).not.toContain("..");
        expect(segments).not.toContain(".");
        expect(segments).not.toContain("");
      }),
    );
  });

  it.each([
    ["the same path twice", [file("a"), file("a")]],
    ["a file where another needs a directory", [file("a"), file("a/b")]],
    ["a directory where another needs a file", [file("a/b/c"), file("a/b")]],
    ["a path that is too long", [file(Array.from({ length: 30 }, () => "n".repeat(200)).join("/"))]],
  ])("are rejected if there is %s", (_what, files) => {
    expect(() => sandboxFilesOf({ skills: [{ name: "s", files }], blobs: [] })).toThrow(/./);
  });

  it("are sent completely, as frames, to a slow reader", async () => {
    const { stream, written } = collector();
    const long = { path: "f", size: 6, read: () => pieces("abc", "def") };
    await sendFiles(stream, sandboxFilesOf({ skills: [{ name: "s", files: [long] }], blobs: [] }));
    await new Promise((resolve) => stream.end(resolve));
    const bytes = Buffer.concat(written);
    const header = bytes.subarray(4, 4 + bytes.readUInt32BE());
    expect(JSON.parse(header.toString())).toEqual({ type: "file", path: "/skills/s/f", bytes: 6 });
    expect(bytes.subarray(4 + header.length).toString()).toBe("abcdef");
  });

  it("are rejected if the process has exited", async () => {
    const { stream } = collector();
    stream.destroy();
    const files = sandboxFilesOf({ skills: [{ name: "s", files: [file("f", "content")] }], blobs: [] });
    await expect(sendFiles(stream, files)).rejects.toThrow("exited before");
  });
});
