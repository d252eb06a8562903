import type { Settings } from "../options.ts";
import type { Skillset } from "../skillset.ts";
import { openAgentTools } from "./agent-tools.ts";
import { encodeMessage } from "./encode-message.ts";
import { openInterceptor } from "./interceptor.ts";
import { type Direction, type Flush, passBlock } from "./pass-block.ts";
import { readInstructions } from "./read-instructions.ts";

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
  tools = settings.tools === "none" ? undefined : openAgentTools(settings),
): ByteInterceptor {
  const interceptor = openInterceptor({
    skillset,
    settings,
    tools,
    readInstructions,
    startedAt: Date.now(),
    send(message) {
      toEditor(encodeMessage(message));
    },
    reply(message) {
      toAgent(encodeMessage(message));
    },
  });
  const fromEditor: Direction = {
    interest: interceptor.editorInterest,
    look: interceptor.fromEditor,
    garbage: garbageReport("editor", settings),
    fault: faultReport(settings),
  };
  const fromAgent: Direction = {
    interest: interceptor.agentInterest,
    look: interceptor.fromAgent,
    garbage: garbageReport("agent", settings),
    fault: faultReport(settings),
  };
  return {
    passFromEditor: (block, flush) => passBlock(block, fromEditor, flush),
    passFromAgent: (block, flush) => passBlock(block, fromAgent, flush),
    async close() {
      interceptor.close();
      await tools?.close();
    },
  };
}

/** Says once that an end writes lines that are not JSON. They are looked for only while lines are read anyway. */
function garbageReport(end: string, { log }: Settings): (line: string) => void {
  let isTold = false;
  return (line) => {
    if (isTold) return;
    isTold = true;
    const excerpt = JSON.stringify(line.trim().slice(0, 80));
    log("warning", `The ${end} wrote a line that is not JSON; it was passed on as it came: ${excerpt}`);
  };
}

function faultReport({ log }: Settings): (error: unknown) => void {
  let isTold = false;
  return (error) => {
    if (isTold) return;
    isTold = true;
    log("error", `A message could not be amended and was passed on as it came: ${String(error)}`);
  };
}
