import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { SkillFileEntry } from "../../../wire/skills.ts";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { formatBytes } from "../../parts/formats.tsx";

interface Properties {
  readonly files: readonly SkillFileEntry[];
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
}

/** The files of a skill as a tree: arrows move, open and close; Enter shows a file. Open directories stay open when files change. */
export function FileTreeView({ files, chosen, onChoose }: Properties): JSX.Element {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState<string>();
  const tree = useRef<HTMLUListElement>(null);
  const nodes = treeNodes(files, closed);
  const active = (nodes.find(({ path }) => path === focused) ?? nodes.find(({ path }) => path === chosen) ?? nodes[0])
    ?.path;

  const focus = (index: number): void => {
    const node = nodes[Math.max(0, Math.min(index, nodes.length - 1))];
    if (node === undefined) return;
    setFocused(node.path);
    tree.current?.querySelectorAll<HTMLElement>("[role=treeitem]")[nodes.indexOf(node)]?.focus();
  };
  const toggle = (path: string): void => {
    const after = new Set(closed);
    if (!after.delete(path)) after.add(path);
    setClosed(after);
  };
  const act = (node: TreeNode): void => {
    setFocused(node.path);
    if (node.file === undefined) toggle(node.path);
    else onChoose(node.path);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const index = nodes.findIndex(({ path }) => path === active);
    const node = nodes[index];
    if (node === undefined || !keys.has(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "ArrowDown") focus(index + 1);
    else if (event.key === "ArrowUp") focus(index - 1);
    else if (event.key === "Home") focus(0);
    else if (event.key === "End") focus(nodes.length - 1);
    else if (event.key === "ArrowRight") {
      if (node.isOpen === false) toggle(node.path);
      else if (node.isOpen === true) focus(index + 1);
    } else if (event.key === "ArrowLeft") {
      if (node.isOpen === true) toggle(node.path);
      else focus(nodes.findLastIndex(({ level }, at) => at < index && level < node.level));
    } else act(node);
  };

  return (
    <ul class="tree" role="tree" aria-label="Files" ref={tree} onKeyDown={onKeyDown}>
      {nodes.map((node) => (
        <li
          key={node.path}
          role="treeitem"
          tabIndex={node.path === active ? 0 : -1}
          aria-level={node.level}
          aria-posinset={node.position}
          aria-setsize={node.siblings}
          aria-expanded={node.isOpen}
          aria-selected={node.file === undefined ? undefined : node.path === chosen}
          style={{ "--level": node.level }}
          onClick={() => act(node)}
        >
          <Icon name={node.file === undefined ? "folder" : "file"} />
          <ForeignText text={node.name} limit={255} />
          {node.isOpen === false && <span class="muted">…</span>}
          {node.file !== undefined && <span class="size">{formatBytes(node.file.sizeBytes)}</span>}
        </li>
      ))}
    </ul>
  );
}

const keys = new Set(["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Home", "End", "Enter", " "]);

/** A line of the tree that is in view: a directory or a file, at a level that starts with 1. */
interface TreeNode {
  readonly path: string;
  readonly name: string;
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
  readonly file?: SkillFileEntry;
  /** Present for a directory. */
  readonly isOpen?: boolean;
}

interface Directory {
  readonly directories: Map<string, Directory>;
  readonly files: [string, SkillFileEntry][];
}

/** The tree from top to bottom, without what lies in closed directories. Directories come first, then names in order. */
function treeNodes(files: readonly SkillFileEntry[], closed: ReadonlySet<string>): readonly TreeNode[] {
  const root = emptyDirectory();
  for (const file of files) {
    const names = file.path.split("/");
    const name = names.pop() ?? file.path;
    let directory = root;
    for (const part of names) {
      const inner = directory.directories.get(part) ?? emptyDirectory();
      directory.directories.set(part, inner);
      directory = inner;
    }
    directory.files.push([name, file]);
  }
  const nodes: TreeNode[] = [];
  list(root, "", 1);
  return nodes;

  function list(directory: Directory, above: string, level: number): void {
    const siblings = directory.directories.size + directory.files.length;
    let position = 0;
    for (const [name, inner] of [...directory.directories].sort(byName)) {
      const path = `${above}${name}`;
      const isOpen = !closed.has(path);
      nodes.push({ path, name, level, position: ++position, siblings, isOpen });
      if (isOpen) list(inner, `${path}/`, level + 1);
    }
    for (const [name, file] of directory.files.sort(byName))
      nodes.push({ path: file.path, name, level, position: ++position, siblings, file });
  }
}

function emptyDirectory(): Directory {
  return { directories: new Map(), files: [] };
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : Number(one > other);
}
