import path from "node:path";
import { isObject, parseIfJson } from "../../../../base/json/json-value.ts";
import { type Editor, type SetupEnvironment, configDirectory, roamingDirectory } from "../editor.ts";
import { commandAndArgs, createJsonEditor, nameWithSkills } from "./json-editors.ts";

/** The vaults that Obsidian knows, and the one at hand. */
function vaults(where: SetupEnvironment): readonly string[] {
  const { home, platform, cwd } = where;
  const directories =
    platform === "win32"
      ? [roamingDirectory(where, "obsidian")]
      : platform === "darwin"
        ? [path.join(home, "Library", "Application Support", "obsidian")]
        : [configDirectory(where, "obsidian"), path.join(home, ".var/app/md.obsidian.Obsidian/config/obsidian")];
  const known = directories.flatMap((directory) => vaultsIn(where.read(path.join(directory, "obsidian.json"))));
  return [...new Set([...known, cwd])];
}

function vaultsIn(text: string | undefined): readonly string[] {
  const list = parseIfJson(text ?? ""); // It may be half written.
  const all = isObject(list) && isObject(list["vaults"]) ? Object.values(list["vaults"]) : [];
  return all.flatMap((vault) =>
    isObject(vault) && typeof vault["path"] === "string" && path.isAbsolute(vault["path"]) ? [vault["path"]] : [],
  );
}

/** The plugin Agent Client: three agents of its own, each under its key, and a list of the person's. */
const plugin = createJsonEditor({
  title: "Obsidian, with the plugin Agent Client,",
  places: (where) =>
    vaults(where).map((vault) => path.join(vault, ".obsidian", "plugins", "agent-client", "data.json")),
  lenient: false,
  single: ["claude", "codex", "gemini"],
  holders: ["customAgents"],
  form: commandAndArgs,
  blank: {},
  nameFor: nameWithSkills,
  next: "Restart Obsidian, which writes its settings again while it runs, open the plugin's chat, and type /.",
});

/** Without adding agents: in the plugin's own settings, each gets an id. */
export const obsidian: Editor = {
  title: plugin.title,
  readsAll: true,
  places: (where) => plugin.places(where),
  plan: (text, where) => plugin.plan(text, where),
  takeOut: (text, done, where) => plugin.takeOut(text, done, where),
  next: plugin.next,
};
