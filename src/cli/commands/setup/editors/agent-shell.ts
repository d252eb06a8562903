import path from "node:path";
import type { Editor, SetupEnvironment } from "../editor.ts";
import { configDirectory } from "./platform-places.ts";

const first = ";; >>> acp-skills (written by `acp-skills setup agent-shell`, removed by `--undo`) >>>";
const last = ";; <<< acp-skills <<<";

/**
 * Emacs: a block at the end of the init file. Every agent of agent-shell is started by `acp-make-client` of acp.el, whose arguments the
 * block extends: the variables of single agents (`agent-shell-…-acp-command`) keep their values, whenever they are set.
 */
export const agentShell: Editor = {
  title: "agent-shell",
  places: initFiles,
  marks: (where) => [...initFiles(where), ...directories(where)],
  plan(text = "", where) {
    const block = blockFor(where);
    const [before, found, after] = split(text) ?? [text === "" || text.endsWith("\n") ? text : `${text}\n`, "", ""];
    const outcome = found === block ? "wrapped" : found === "" ? "wrap" : "repair";
    return { text: before + block + after, agents: [{ name: "every agent of agent-shell", key: "[]", outcome }] };
  },
  takeOut(text) {
    const parts = split(text);
    return parts && parts[0] + parts[2];
  },
  next: "Restart Emacs, or evaluate the block, and start an agent with M-x agent-shell.",
};

function directories({ home, ...where }: SetupEnvironment): readonly string[] {
  return [path.join(home, ".emacs.d"), configDirectory({ home, env: where.env }, "emacs")];
}

/** In the order of Emacs; before them the user's file of Doom, whose init.el is its own program. */
function initFiles(where: SetupEnvironment): readonly string[] {
  const { home, exists } = where;
  const doom = [configDirectory(where, "doom"), path.join(home, ".doom.d")].map((one) => path.join(one, "config.el"));
  const plain = [".emacs.el", ".emacs"].map((name) => path.join(home, name));
  const [legacy = "", modern = ""] = directories(where).map((one) => path.join(one, "init.el"));
  const inDirectories =
    exists(path.dirname(legacy)) || !exists(path.dirname(modern)) ? [legacy, modern] : [modern, legacy];
  const all = [...doom, ...plain, ...inDirectories];
  const found = all.filter(exists);
  return found.length > 0 ? found : inDirectories;
}

function split(text: string): readonly [before: string, block: string, after: string] | undefined {
  const start = text.indexOf(first);
  const end = text.indexOf(`${last}\n`, start);
  if (start < 0 || end < 0) return undefined;
  const stop = end + last.length + 1;
  return [text.slice(0, start), text.slice(start, stop), text.slice(stop)];
}

function blockFor({ wrapper }: SetupEnvironment): string {
  const [program = "", ...words] = wrapper.map((word) => JSON.stringify(word));
  return `${first}
(defun acp-skills-wrap (arguments)
  "Start the agent that ARGUMENTS of \`acp-make-client' name through acp-skills."
  (let ((command (plist-get arguments :command))
        (params (plist-get arguments :command-params))
        (program ${program})
        (words '(${[...words, '"--"'].join(" ")})))
    (if (or (null command)
            (string-suffix-p "acp-skills" command)
            (member (car words) params))
        arguments
      (plist-put (plist-put (copy-sequence arguments) :command program)
                 :command-params (append words (list command) params)))))
(with-eval-after-load 'acp
  (advice-add 'acp-make-client :filter-args #'acp-skills-wrap))
${last}
`;
}
