import type { Settings } from "../options.ts";
import type { Skillset } from "../skillset.ts";
import { openToldOnce } from "../told-once.ts";
import type { AgentTools } from "./agent-tools.ts";
import { openConnection } from "./connection.ts";
import { encodeMessage } from "./encode-message.ts";
import { type Direction, type Flush, passBlock } from "./pass-block.ts";

/** An interceptor over newline-delimited JSON: takes blocks of whole lines, gives back the bytes to write. */
export interface ByteInterceptor {
  readonly passFromEditor: (block: Buffer, flush: Flush) => Buffer[] | Promise<Buffer[]>;
  readonly passFromAgent: (block: Buffer, flush: Flush) => Buffer[] | Promise<Buffer[]>;
  /** Resolves when what was served is gone. */
  readonly close: () => Promise<void>;
}

/** Each puts a whole line on its way, behind what came before. */
export interface LineSinks {
  readonly toEditor: (line: Buffer) => void;
  readonly toAgent: (line: Buffer) => void;
}

export function interceptBytes(
  skillset: Skillset,
  settings: Settings,
  { toEditor, toAgent }: LineSinks,
  tools?: AgentTools,
): ByteInterceptor {
  const outlets = {
    send: (message: object) => {
      toEditor(encodeMessage(message));
    },
    reply: (message: object) => {
      toAgent(encodeMessage(message));
    },
  };
  const connection = openConnection(skillset, settings, outlets, tools);
  const { tellOnce } = openToldOnce(settings.log);
  /** Lines that are not JSON are looked for only while lines are read anyway. */
  const reports = (end: string): Pick<Direction, "garbage" | "fault"> => ({
    garbage(line) {
      const excerpt = JSON.stringify(line.trim().slice(0, 80));
      const message = `The ${end} wrote a line that is not JSON; it was passed on as it came: ${excerpt}`;
      tellOnce("warning", message, `garbage of the ${end}`);
    },
    fault(error) {
      const message = `A message could not be amended and was passed on as it came: ${String(error)}`;
      tellOnce("error", message, `fault in a message of the ${end}`);
    },
  });
  const fromEditor: Direction = {
    interest: connection.editorInterest,
    look: connection.fromEditor,
    ...reports("editor"),
  };
  const fromAgent: Direction = { interest: connection.agentInterest, look: connection.fromAgent, ...reports("agent") };
  return {
    passFromEditor: (block, flush) => passBlock(block, fromEditor, flush),
    passFromAgent: (block, flush) => passBlock(block, fromAgent, flush),
    close: connection.close,
  };
}
