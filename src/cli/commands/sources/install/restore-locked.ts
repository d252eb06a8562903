import { SkillsError } from "../../../../base/errors.ts";
import { type ConfirmedInstall, carryOut, recoverSkillsDirectory } from "../../../../sources/install.ts";
import { readLock } from "../../../../sources/lock-file.ts";
import { type InstallScope, shownSkillsDirectory } from "../../../../sources/install-scope.ts";
import { type UpdateLookup, failuresOf, latestWords } from "../../../../sources/update.ts";
import { counted } from "../../../../base/text/code-points.ts";
import { shownPath } from "../../../../base/paths/location.ts";
import { type OptionValues, type ExitCode, exit } from "../../../command.ts";
import type { Terminal } from "../../../report/terminal.ts";
import { confirm, emptyWords, recordInstalls, type recheckOptions, withUpdates } from "./source-options.ts";

type Restoring = OptionValues<typeof recheckOptions> & {
  readonly yes?: boolean;
  readonly frozen?: boolean;
  readonly "dry-run"?: boolean;
  readonly "discard-changes"?: boolean;
};

/** Installs exactly what the lock names, and reports each failure. With `frozen`, installs all or nothing. Never changes the lock. */
export async function restoreLocked(given: Restoring, where: InstallScope, terminal: Terminal): Promise<ExitCode> {
  const skills = await recoverSkillsDirectory(where, (note) => terminal.note(note));
  const lock = readLock(where);
  const entries = [...lock.entries];
  if (entries.length === 0) throw new SkillsError("UNREADABLE", emptyWords(where));
  const { "discard-changes": discards, frozen: isFrozen = isInCi() } = given;
  const restored = discards === true ? (["missing", "changed"] as const) : (["missing"] as const);
  const search = { where, entries, skills, restored, isExact: true };
  return await withUpdates(given, lock, search, terminal, async (found, signal) => {
    for (const failure of failuresOf(found)) terminal.note(failure);
    const failed = found.filter(({ latest }) => "why" in latest);
    const todo = found.flatMap((one) => toInstall(one) ?? []);
    const isMeant = given["dry-run"] !== true && todo.length > 0 && !(isFrozen && failed.length > 0);
    const title = `Install ${counted(todo.length, "skill")}, exactly as the lock names them, in ${shownPath(shownSkillsDirectory(where), terminal.cwd)}?`;
    const yes = isFrozen ? true : given.yes;
    const isWanted = isMeant && (await confirm(title, "Install", { yes, terminal, signal }));
    if (isWanted) {
      const flag = discards === true ? " --discard-changes" : "";
      const rows = todo.map(({ index, downloaded }) => {
        return { ...downloaded.inspected, about: `as locked, from ${index.source.label}${flag}` };
      });
      recordInstalls(where, "add", rows, terminal);
      await carryOut(where, lock, todo, "as locked");
      for (const { key, downloaded } of todo) terminal.note(`installed ${key} ${latestWords(downloaded)}`);
    }
    const done = isWanted ? todo.length : 0;
    const why = isFrozen && failed.length > 0 && todo.length > 0 ? "; --frozen installs all or nothing" : "";
    terminal.note(
      `${done} installed, ${found.length - todo.length - failed.length} there already, ${failed.length} not possible${why}`,
    );
    if (given.json === true)
      await terminal.printJson({ frozen: isFrozen, skills: found.map((one) => toJson(one, isWanted)) });
    const isDone = failed.length === 0 && (isWanted || todo.length === 0 || given["dry-run"] === true);
    return isDone ? exit.done : exit.unable;
  });
}

function isInCi(): boolean {
  const { CI: value = "" } = process.env;
  return value !== "" && value !== "false" && value !== "0";
}

function toInstall({ key, latest, installed }: UpdateLookup): ConfirmedInstall | undefined {
  if (!("downloaded" in latest)) return undefined;
  const { index, downloaded } = latest;
  const seen = installed.state === "missing" ? undefined : installed.installed;
  return { act: seen === undefined ? "install" : "replace", key, index, downloaded, seen };
}

function toJson({ key, latest }: UpdateLookup, isInstalled: boolean): object {
  if ("why" in latest) return { name: key, state: "refused", why: latest.why };
  if (!("downloaded" in latest)) return { name: key, state: "current" };
  const { version, digest } = latest.downloaded.inspected;
  return { name: key, state: isInstalled ? "installed" : latest.state, version, digest };
}
