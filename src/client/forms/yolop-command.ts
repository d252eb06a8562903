import { fieldsOf } from "../json.ts";
import { type CommandForm, withoutPrefix } from "./command.ts";

const key = "yolop.dev/command";

/** yolop: `_meta` says that a command's source is a skill, below one key or in a key of its own (everruns/yolop, pull request 733). */
export const readYolopCommand: CommandForm = ({ name, description, meta }) =>
  meta[`${key}.source`] === "skill" || fieldsOf(meta[key])?.["source"] === "skill"
    ? { name: withoutPrefix(name), description, command: name, form: "yolop-command" }
    : undefined;
