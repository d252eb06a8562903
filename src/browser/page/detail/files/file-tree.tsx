import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { SkillFileEntry } from "../../../wire/skills.ts";
import { foreignText } from "../../parts/foreign-text.tsx";
import { formatBytes } from "../../parts/formats.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Tree, type TreeLine } from "../../parts/tree.tsx";

interface FileTreeProps {
  readonly files: readonly SkillFileEntry[];
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
}

/** The files of a skill as a tree. Open directories stay open when files change. */
export function FileTreeView({ files, chosen, onChoose }: FileTreeProps): JSX.Element {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const act = ({ path, isOpen }: FileLine): void => {
    if (isOpen === undefined) onChoose(path);
    else setClosed(isOpen ? new Set([...closed, path]) : new Set([...closed].filter((other) => other !== path)));
  };
  return (
    <Tree class="tree" label="Files" lines={linesOf(files, closed)} chosen={chosen} onAct={act} Content={FileName} />
  );
}

interface FileLine extends TreeLine {
  readonly name: string;
  /** Absent for a directory. */
  readonly sizeBytes?: number;
}

function FileName({ line: { name, isOpen, sizeBytes } }: { readonly line: FileLine }): JSX.Element {
  return (
    <>
      <Icon name={isOpen === undefined ? "file" : "folder"} />
      {foreignText(name, 255)}
      {isOpen === false && <span class="muted">…</span>}
      {sizeBytes !== undefined && <span class="size">{formatBytes(sizeBytes)}</span>}
    </>
  );
}

/** The tree from top to bottom, without what lies in closed directories. Directories, whose paths end in a slash, come first. */
function linesOf(
  files: readonly SkillFileEntry[],
  closed: ReadonlySet<string>,
  above = "",
  level = 1,
): readonly FileLine[] {
  const inside = new Map<string, SkillFileEntry[]>();
  for (const file of files) {
    const [name = ""] = /^[^/]*\/?/.exec(file.path.slice(above.length)) ?? [];
    const known = inside.get(name) ?? [];
    known.push(file);
    inside.set(name, known);
  }
  const isFile = (name: string): number => Number(!name.endsWith("/"));
  const sorted = [...inside].sort(([a], [b]) => isFile(a) - isFile(b) || (a < b ? -1 : 1));
  return sorted.flatMap(([key, own], index): readonly FileLine[] => {
    const path = above + key;
    const line = { path, name: key.replace("/", ""), level, position: index + 1, siblings: sorted.length };
    if (isFile(key) === 1) return own.map(({ sizeBytes }) => ({ ...line, sizeBytes }));
    const isOpen = !closed.has(path);
    return [{ ...line, isOpen }, ...(isOpen ? linesOf(own, closed, path, level + 1) : [])];
  });
}
