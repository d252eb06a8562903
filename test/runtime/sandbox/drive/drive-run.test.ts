import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { silentLog } from "../../../../src/base/log.ts";
import { driveRun } from "../../../../src/runtime/sandbox/drive/drive-run.ts";
import { readFrames, sendFrame } from "../../../../src/runtime/sandbox/frames.ts";
import { recordingHost } from "../../../contract/sandbox/recording-host.ts";
import { codeRun } from "../../../contract/sandbox/runs.ts";
import { manualClock } from "../../../manual-clock.ts";

test("ends a run whose program closed its output before the host listened", async () => {
  const [control, report, stdout, stderr] = Array.from({ length: 4 }, () => new PassThrough()) as [
    PassThrough,
    PassThrough,
    PassThrough,
    PassThrough,
  ];
  for (const stream of [stdout, stderr]) {
    stream.destroy();
    await once(stream, "close");
  }
  const sandbox = {
    pid: 1,
    control,
    program: Object.assign(new PassThrough(), { write: () => true }),
    stdout,
    stderr,
    frames: readFrames(report),
    listener: undefined,
    exited: Promise.resolve(),
    lastWords: () => "",
    kill: () => undefined,
    release: () => undefined,
    keepAlive: () => undefined,
  };
  sandbox.program.end();
  sendFrame(report, { type: "end", exit_code: 70 });
  const options = { clock: manualClock(), log: silentLog };
  const end = driveRun(sandbox, codeRun(""), {}, recordingHost(), new AbortController().signal, options);
  expect(await end).toMatchObject({ type: "crashed" });
}, 5_000);
