import { FrameFault } from "../frames/frames.ts";
import type { Frame } from "../frames/frames.ts";
import type { RunHost, RunLimits } from "../sandbox.ts";

/** Passes on what a program prints until it exceeds its limit, which is reported by `tooMuch`. */
export function passPrinted(
  limits: RunLimits,
  host: RunHost,
  tooMuch: () => void,
): (stream: "stdout" | "stderr", bytes: Uint8Array) => void {
  let left = limits.printedBytes;
  return (stream, bytes) => {
    const passed = bytes.subarray(0, left);
    left -= passed.length;
    if (passed.length > 0) host.print(stream, passed);
    if (passed.length < bytes.length) tooMuch();
  };
}

/** Passes on the output files that arrive as frames. Throws a `FrameFault` for an invalid path, or where they exceed the limits. */
export function passFiles(limits: RunLimits, host: RunHost): (frame: Frame) => Promise<void> {
  let files = 0;
  let bytes = 0;
  return async ({ header, size, payload }) => {
    const { path } = header;
    files += 1;
    bytes += size;
    if (typeof path !== "string" || !isInside(path)) throw new FrameFault("An output file has an invalid path.");
    if (files > limits.outputFiles || bytes > limits.diskBytes)
      throw new FrameFault("The output files exceed the limits.");
    await host.output(path, size, payload);
  };
}

function isInside(path: string): boolean {
  return path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}
