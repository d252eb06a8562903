import { availableCommandsUpdate, sessionUpdate, skillsNotification } from "../../wire/methods.ts";
import { readCommandList } from "./command-list.ts";
import type { EntryContext } from "./entries.ts";
import { isSkillsKind, readSkillsList, readUpdateParams } from "../skills-list.ts";
import type { ParsedNotification } from "./notification.ts";

/** SDK 0.4.5 strips the `_` from the methods of extension notifications. */
export function isMethod(method: unknown, expected: string): boolean {
  return method === expected || (typeof method === "string" && `_${method}` === expected);
}

/** Reads the skills in a notification of an agent; undefined if it has none. Never throws for a JSON value. */
export function readNotification(
  method: unknown,
  params: unknown,
  source: EntryContext,
): ParsedNotification | undefined {
  const isNotification = isMethod(method, skillsNotification);
  if (!isNotification && method !== sessionUpdate) return undefined;
  const found = readUpdateParams(params);
  if (found === undefined) return undefined;
  if (isSkillsKind(found.kind)) return readSkillsList(found, isNotification, source);
  return found.kind === availableCommandsUpdate ? readCommandList(found, source) : undefined;
}
