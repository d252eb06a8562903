import type { Log } from "../../base/log.ts";
import { toWireError } from "../../wire/error-table.ts";
import { jsonText } from "./json-text.ts";
import type { Terminal } from "./terminal.ts";

/** Tells a person, or with `--json` a program, why nothing was done. A fault of ours is told by its id; the rest is logged. */
export function tellRefusal(
  error: unknown,
  { json }: { readonly json?: boolean },
  { terminal, log }: { readonly terminal: Terminal; readonly log: Log },
): void {
  const told = toWireError(error, { log });
  if (json === true) process.stderr.write(`${jsonText(told)}\n`);
  else terminal.tell(`${withHint(told.message, told.data.hint)}${listed(told.data.available)}`);
}

function listed(available: readonly string[] = []): string {
  return available.length === 0 ? "" : ` Available: ${available.join(", ")}.`;
}

/** Some messages end with their hint already. */
function withHint(message: string, hint = ""): string {
  return message.endsWith(hint) ? message : `${message} ${hint}`;
}
