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
      const write = openWriting(stdout);
      let gathered = "";
      for (const piece of pieces) {
        gathered += piece;
        if (gathered.length < writeSize) continue;
        await write(gathered);
        gathered = "";
      }
      if (gathered !== "") await write(gathered);
    },
    tell(sentence) {
      stderr.write(`acp-skills: ${safeText(sentence)}\n`);
    },
  };
}

/** Writes text through one buffer, which is used again when the reader has taken what it held. */
function openWriting(stream: NodeJS.WritableStream): (text: string) => Promise<void> {
  let buffer = Buffer.alloc(0);
  return (text) => {
    const most = text.length * 3;
    if (buffer.length < most) buffer = Buffer.allocUnsafeSlow(most);
    const bytes = buffer.subarray(0, buffer.write(text));
    return new Promise((resolve) => stream.write(bytes, () => resolve()));
  };
}
