import type { Writable } from "node:stream";
import { parseIfJson } from "../../base/json/json-value.ts";
import { createDeferred } from "../../base/promises.ts";
import { initialize } from "../../wire/methods.ts";
import { isRecord, type JsonRecord } from "../messages/raw-message.ts";
import type { ByteInterceptor } from "./intercept-bytes.ts";
import type { LineFilter } from "./relay-lines.ts";

type Passes = Pick<ByteInterceptor, "passFromEditor" | "passFromAgent">;

/** The editor's `initialize`, followed until it is answered: an agent that cannot start is reported there, because editors show nothing else. */
export interface Initialization {
  /** What the lines of both sides pass through: until it is answered, they are read as well. */
  readonly fromEditor: LineFilter;
  readonly fromAgent: LineFilter;
  /** Resolves when the editor has sent it. Never rejects. */
  readonly asked: Promise<void>;
  /** The editor waits for no answer any longer. */
  readonly editorLeft: () => void;
  /** Whether it was sent and not answered. */
  readonly isOpen: () => boolean;
  /** Answers it with an error, if it was sent and not answered. Editors show about 70 characters: the reason and what to do come first. */
  readonly refuse: (output: Writable, message: string) => void;
}

const lineBreak = 10;

export function followInitialization({ passFromEditor, passFromAgent }: Passes): Initialization {
  const { promise: asked, resolve } = createDeferred();
  let open: unknown;
  let isOver = false;
  let isLineOpen = false;
  const isOpen = (): boolean => !isOver && open !== undefined;
  const end = (): void => {
    isOver = true;
    fromEditor.pass = passFromEditor;
    fromAgent.pass = passFromAgent;
  };
  const fromEditor: LineFilter = {
    pass(lines, flush) {
      if (open === undefined) {
        open = messagesIn(lines).find(({ method, id }) => method === initialize && id !== undefined)?.["id"];
        if (open !== undefined) resolve();
      }
      return passFromEditor(lines, flush);
    },
  };
  const fromAgent: LineFilter = {
    pass(lines, flush) {
      if (open !== undefined) {
        isLineOpen = lines.at(-1) !== lineBreak;
        if (messagesIn(lines).some(({ method, id }) => method === undefined && id === open)) end();
      }
      return passFromAgent(lines, flush);
    },
  };
  return {
    fromEditor,
    fromAgent,
    asked,
    editorLeft: end,
    isOpen,
    refuse(output, message) {
      if (!isOpen() || output.destroyed) return;
      end();
      // An agent may have died in the middle of its answer.
      output.write(
        `${isLineOpen ? "\n" : ""}${JSON.stringify({ jsonrpc: "2.0", id: open, error: { code: agentFailed, message } })}\n`,
      );
    },
  };
}

/** A code that JSON-RPC leaves to implementations: CodeCompanion does not show errors with the code of an internal error. */
const agentFailed = -32010;

/** The JSON objects among lines; anything else is skipped, and reported elsewhere. */
function messagesIn(lines: Buffer): readonly JsonRecord[] {
  return lines.toString("utf8").split("\n").map(parseIfJson).filter(isRecord);
}
