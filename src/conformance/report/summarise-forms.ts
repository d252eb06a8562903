import {
  type AdvertisedCommand,
  isOwnCommand,
  readAdvertisedCommand,
  readAirCommand,
  readNamedCommand,
  readQwenSkills,
  readYolopCommand,
} from "../../client/advertised-command.ts";
import { type UpdateParams, isSkillsKind, readSkillsList, readUpdateParams } from "../../client/skills-update.ts";
import { arrayOf, fieldsOf } from "../../client/json.ts";
import { availableCommandsUpdate, skillsNotification } from "../../wire/methods.ts";
import { type Exchange, isSkillEntry } from "../exchange.ts";
import { limits } from "../transcript.ts";

/** A form in which an agent sent its skills or commands. */
export interface SentForm {
  readonly form: string;
  /** How many updates had this form. */
  readonly updates: number;
  /** How many valid skills, or commands, the longest list had. */
  // eslint-disable-next-line house/number-names -- a field of the report in JSON
  readonly most: number;
  /** The line of the first update in this form. */
  readonly line: number;
}

interface Counted {
  readonly form: string;
  readonly count: number;
}

/** The forms of an exchange, as the client library reads them, in the order of their first use. */
export function summariseForms({ updates }: Exchange): readonly SentForm[] {
  const forms = new Map<string, SentForm>();
  for (const { line, method, params } of updates) {
    const found = readUpdateParams(params);
    for (const { form, count } of found === undefined ? [] : formsIn(found, method)) {
      const before = forms.get(form) ?? { updates: 0, most: 0, line };
      forms.set(form, { form, updates: before.updates + 1, most: Math.max(before.most, count), line: before.line });
    }
  }
  return [...forms.values()].sort((a, b) => a.line - b.line);
}

function formsIn(found: UpdateParams, method: string): readonly Counted[] {
  if (isSkillsKind(found.kind)) return [skillsIn(found, method)];
  return found.kind === availableCommandsUpdate ? commandsIn(found).filter(({ count }) => count > 0) : [];
}

/** Limits that no update exceeds, because no line is longer. */
const source = { agent: "", limits: { skills: limits.messageBytes, text: limits.messageBytes } };

function skillsIn(found: UpdateParams, method: string): Counted {
  const isNotification = method === skillsNotification;
  const list = readSkillsList(found, isNotification, source);
  const name = isNotification ? method : found.kind;
  if (list.kind === "delta") return { form: `changes in ${name}`, count: list.skills.length };
  return { form: found.isFlat ? `${name}, not nested` : name, count: list.kind === "list" ? list.skills.length : 0 };
}

type Mark = readonly [form: string, isMarked: (command: AdvertisedCommand) => boolean];

/** The marks of skills among commands. One command may have several, for several kinds of editors. */
const marks: readonly Mark[] = [
  ['commands with _meta["acp-skills"]', isOwnCommand],
  ["commands with _meta.jetbrains.air", (command) => readAirCommand(command) !== undefined],
  ['commands with _meta["yolop.dev/command"]', (command) => readYolopCommand(command) !== undefined],
  ["commands named $… or skill:…", (command) => readNamedCommand(command) !== undefined],
];

function commandsIn({ update, meta }: UpdateParams): readonly Counted[] {
  const list = arrayOf(update["availableCommands"]);
  const isEntry = (value: unknown): boolean => isSkillEntry(fieldsOf(value) ?? {});
  const commands = list.flatMap((value) => (isEntry(value) ? [] : (readAdvertisedCommand(value, "") ?? [])));
  const byName = new Map(commands.map((command) => [command.name, command]));
  const qwen = readQwenSkills({ ...meta, ...fieldsOf(update["_meta"]) }, byName);
  const ofQwen = new Set(qwen.map(({ name }) => name));
  const plain = commands.filter(
    (command) => !ofQwen.has(command.name) && !marks.some(([, isMarked]) => isMarked(command)),
  );
  return [
    ...marks.map(([form, isMarked]) => ({ form, count: commands.filter(isMarked).length })),
    { form: "skill entries", count: list.filter(isEntry).length },
    { form: "_meta.availableSkills of a list of commands", count: qwen.length },
    { form: "plain commands", count: plain.length },
  ];
}
