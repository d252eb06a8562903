import type { Settings } from "../../options.ts";
import { openToldOnce } from "../../base/told-once.ts";
import { encodeMessage } from "./encode-message.ts";
import { openInterceptor } from "../interceptor.ts";
import { type Direction, type Flush, passBlock } from "./pass-block.ts";
import type { SkillService } from "../service/skill-service.ts";

/** An interceptor for newline-delimited JSON: takes blocks of whole lines and returns the bytes to write. */
export interface ByteInterceptor {
  readonly passFromEditor: (block: Buffer, flush: Flush) => Buffer[] | Promise<Buffer[]>;
  readonly passFromAgent: (block: Buffer, flush: Flush) => Buffer[] | Promise<Buffer[]>;
  /** The editor has closed its end. */
  readonly editorLeft: () => void;
  /** Nothing is sent afterwards. */
  readonly close: () => void;
}

/** Each writes a whole line, after what was written before. */
export interface LineSinks {
  /** `written` is called when the line was written, or never will be. */
  readonly toEditor: (line: Uint8Array, written: () => void) => void;
  readonly toAgent: (line: Buffer) => void;
}

export function interceptBytes(
  service: SkillService,
  settings: Settings,
  { toEditor, toAgent }: LineSinks,
): ByteInterceptor {
  const interceptor = openInterceptor({
    service,
    settings,
    send: toEditor,
    reply: (message: object) => {
      toAgent(encodeMessage(message));
    },
  });
  const { tellOnce } = openToldOnce(settings.log);
  /** Only lines that are parsed anyway are reported. */
  const reports = (end: string): Pick<Direction, "garbage" | "fault"> => ({
    garbage(line) {
      const excerpt = JSON.stringify(line.trim().slice(0, 80));
      const message = `The ${end} wrote a line that is not JSON; it was forwarded unchanged: ${excerpt}`;
      tellOnce("warning", message, `garbage of the ${end}`);
    },
    fault(error) {
      const message = `A message could not be amended and was forwarded unchanged: ${String(error)}`;
      tellOnce("error", message, `fault in a message of the ${end}`);
    },
  });
  const fromEditor: Direction = {
    interest: () => interceptor.editorInterest(),
    look: (message) => interceptor.fromEditor(message),
    ...reports("editor"),
  };
  const fromAgent: Direction = {
    interest: () => interceptor.agentInterest(),
    look: (message) => interceptor.fromAgent(message),
    ...reports("agent"),
  };
  return {
    passFromEditor: (block, flush) => passBlock(block, fromEditor, flush),
    passFromAgent: (block, flush) => passBlock(block, fromAgent, flush),
    editorLeft: () => {
      interceptor.editorLeft();
    },
    close: () => {
      interceptor.close();
    },
  };
}
