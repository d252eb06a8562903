import { homedir } from "node:os";
import { colourPaint, plainPaint, wantsColour } from "./colour.ts";
import type { Paint } from "./colour.ts";
import { safeText } from "./safe-text.ts";

/** The process as a command sees it: results go to stdout, everything else to stderr. */
export interface Terminal {
  readonly cwd: string;
  readonly home: string;
  /** For stdout. */
  readonly paint: Paint;
  /** Width of stdout; undefined where it is not a terminal, so that nothing need be cut. */
  readonly columns: number | undefined;
  /** Prints results in pieces. Resolves when the reader has taken them. */
  print(pieces: Iterable<string>): Promise<void>;
  /** Passes bytes to stdout as they are, whatever they do to a terminal. */
  pass(chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** One line on stderr, made safe. */
  tell(sentence: string): void;
}

/** Pieces are gathered until they are worth a write. */
const writeSize = 64 * 1024;

/** The terminal of this process. A reader that goes away (`| head`) ends the process quietly. */
export function openTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit();
    stderr.write(`acp-skills: stdout cannot be written: ${error.message}\n`);
    process.exit(1);
  });
  return {
    cwd: process.cwd(),
    home: homedir(),
    paint: wantsColour(env, stdout.isTTY) ? colourPaint : plainPaint,
    columns: stdout.isTTY ? stdout.columns : undefined,
    async print(pieces) {
      let gathered = "";
      for (const piece of pieces) {
        gathered += piece;
        if (gathered.length < writeSize) continue;
        const flowing = stdout.write(gathered);
        gathered = "";
        if (!flowing) await new Promise<void>((resolve) => stdout.once("drain", resolve));
      }
      if (gathered !== "") stdout.write(gathered);
    },
    async pass(chunks) {
      for await (const chunk of chunks) {
        if (!stdout.write(chunk)) await new Promise<void>((resolve) => stdout.once("drain", resolve));
      }
    },
    tell(sentence) {
      stderr.write(`acp-skills: ${safeText(sentence)}\n`);
    },
  };
}
