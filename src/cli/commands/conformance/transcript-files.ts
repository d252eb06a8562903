import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { readTranscript } from "../../../conformance/transcript/read-transcript.ts";
import { type TranscriptEntry, limits } from "../../../conformance/transcript/entry.ts";
import { reasonOf, toAbsolute } from "../../arguments/values.ts";
import { usageError } from "../../command.ts";

/** Creates a file now, so that an error comes before the work; the function replaces its content. */
export function createOutputWriter(option: string, file: string | undefined): ((text: string) => void) | undefined {
  if (file === undefined) return undefined;
  const target = toAbsolute(file);
  try {
    writeFileSync(target, "");
  } catch (error) {
    throw usageError(`${option} ${file} cannot be written: ${reasonOf(error)}`);
  }
  return (text) => {
    writeFileSync(target, text);
  };
}

/** Throws INVALID_OPTIONS if there is no such transcript, or it is too large. */
export function readTranscriptFile(file: string): readonly TranscriptEntry[] {
  return readTranscript(readText(file), file);
}

function readText(file: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(toAbsolute(file), "r");
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw usageError(`${file} is not a regular file`);
    if (stat.size > limits.transcriptBytes)
      throw usageError(`${file} has ${stat.size} bytes; the limit is ${limits.transcriptBytes}`);
    return readFileSync(descriptor, "utf8");
  } catch (error) {
    if (error instanceof Error && "syscall" in error) throw usageError(`${file} cannot be read: ${reasonOf(error)}`);
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
