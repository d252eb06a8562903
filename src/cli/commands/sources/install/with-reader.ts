import { tokensByOrigin } from "../../../arguments/shared-options.ts";
import { deniedSources } from "../../../arguments/policies.ts";
import type { SourceLister } from "../../../../sources/reader.ts";
import type { Source } from "../../../../sources/source.ts";
import { type Terminal, interruptible } from "../../../report/terminal.ts";

interface ReaderOptions {
  readonly allowPrivate: readonly string[] | undefined;
  /** The sources that a person named now. They may be on this machine; sources of a lock may not. */
  readonly typed: readonly Source[];
  /** The values of `--token`: each is for what the person named, unless it names another origin. */
  readonly token: readonly string[] | undefined;
  /** Whose policies count. */
  readonly directory: string;
  readonly terminal: Terminal;
}

/** Works with the ways to sources, and closes them. Returns the exit code, 130 if it was interrupted. */
export async function withReader(
  { allowPrivate = [], typed, token, directory, terminal }: ReaderOptions,
  work: (reader: SourceLister, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const urls = typed.map(({ url }) => url);
  const tokens = tokensByOrigin(token, typed);
  const denied = deniedSources(directory, terminal);
  const { openSourceReader } = await import("../../../../sources/reader.ts");
  const reader = openSourceReader({ allowPrivate, typed: urls, tokens, denied });
  return await interruptible(terminal, async (signal) => {
    try {
      return await work(reader, signal);
    } finally {
      terminal.progress.done();
      await reader.close();
    }
  });
}
