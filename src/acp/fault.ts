import type { ToldOnce } from "../base/log.ts";

/** Logs an error of this package, once per message. The message that was being processed is forwarded unchanged. */
export function reportFault({ tellOnce }: Pick<ToldOnce, "tellOnce">, error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  tellOnce("error", `Internal error in acp-skills; messages are forwarded unchanged. ${stack ?? message}`, message);
}
