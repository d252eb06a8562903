import type { Writable } from "node:stream";
import { parseIfJson } from "../../base/json/json-value.ts";
import { createDeferred } from "../../base/promises.ts";
import { initialize } from "../../wire/methods.ts";
import { isRecord, type JsonRecord } from "../messages/raw-message.ts";
import type { ByteInterceptor } from "./intercept-bytes.ts";
import type { LineFilter } from "./relay-lines.ts";

type Passes = Pick<ByteInterceptor, "passFromEditor" | "passFromAgent">;

/** The editor's `initialize`, until it is answered. Its response reports if the agent cannot start: editors show nothing else. */
export interface Initialization {
  /** The filters for the lines of both sides. Until `initialize` is answered, they also read the lines. */
  readonly fromEditor: LineFilter;
  readonly fromAgent: LineFilter;
  /** Resolves when the editor has sent `initialize`. Never rejects. */
  readonly asked: Promise<void>;
  /** Called when the editor no longer waits for the response. */
  readonly editorLeft: () => void;
  /** Whether `initialize` was sent and is not answered. */
  readonly isOpen: () => boolean;
  /** Answers an open `initialize` with an error. Editors show about 70 characters: the reason and the remedy come first. */
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
      // An agent may have died while it wrote a line.
      output.write(
        `${isLineOpen ? "\n" : ""}${JSON.stringify({ jsonrpc: "2.0", id: open, error: { code: agentFailed, message } })}\n`,
      );
    },
  };
}

/** The error code, one that JSON-RPC leaves to implementations: CodeCompanion does not show errors with the code of an internal error. */
const agentFailed = -32010;

/** Reads the JSON objects among lines. Other lines are skipped; the interceptor reports them. */
function messagesIn(lines: Buffer): readonly JsonRecord[] {
  return lines.toString("utf8").split("\n").map(parseIfJson).filter(isRecord);
}
