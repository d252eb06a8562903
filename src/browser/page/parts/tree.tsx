import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";

/** A line of a tree that is in view, at a level that starts with 1. */
export interface TreeLine {
  /** Names the line as long as the tree is shown. */
  readonly path: string;
  readonly level: number;
  /** The place among its siblings, from 1, and how many there are. */
  readonly position: number;
  readonly siblings: number;
  /** Absent if it cannot be opened. */
  readonly isOpen?: boolean | undefined;
}

interface TreeProps<Line extends TreeLine> {
  readonly class: string;
  readonly label: string;
  readonly lines: readonly Line[];
  /** The path of the line that is shown elsewhere. */
  readonly chosen?: string | undefined;
  /** Opens or closes a line, or shows what it stands for. */
  readonly onAct: (line: Line) => void;
  readonly Content: (props: { readonly line: Line }) => JSX.Element;
}

/** Lines as a tree: arrows move, open and close; Enter acts. */
export function Tree<Line extends TreeLine>(props: TreeProps<Line>): JSX.Element {
  const { class: className, label, lines, chosen, onAct, Content } = props;
  const [focused, setFocused] = useState<string>();
  const tree = useRef<HTMLUListElement>(null);
  const placeOf = (path: string | undefined): number => lines.findIndex((line) => line.path === path);
  const current = Math.max(0, placeOf(placeOf(focused) === -1 ? chosen : focused));

  const press = (event: KeyboardEvent): void => {
    const line = lines[current];
    if (line === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    const focus = (place: number): void => {
      const item = tree.current?.children[Math.min(place, lines.length - 1)];
      if (item instanceof HTMLElement) item.focus();
    };
    const { isOpen, level } = line;
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => focus(current + 1),
      ArrowUp: () => focus(current - 1),
      Home: () => focus(0),
      End: () => focus(lines.length - 1),
      ArrowRight: () => (isOpen === false ? onAct(line) : isOpen === true && focus(current + 1)),
      ArrowLeft: () =>
        isOpen === true ? onAct(line) : focus(lines.findLastIndex((other, at) => at < current && other.level < level)),
      Enter: () => onAct(line),
      " ": () => onAct(line),
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  return (
    <ul class={className} role="tree" aria-label={label} ref={tree} onKeyDown={press}>
      {lines.map((line, place) => (
        <li
          key={line.path}
          role="treeitem"
          tabIndex={place === current ? 0 : -1}
          aria-level={line.level}
          aria-posinset={line.position}
          aria-setsize={line.siblings}
          aria-expanded={line.isOpen}
          aria-selected={chosen === undefined || line.isOpen !== undefined ? undefined : line.path === chosen}
          style={{ "--level": line.level }}
          onFocus={() => setFocused(line.path)}
          onClick={() => onAct(line)}
        >
          <Content line={line} />
        </li>
      ))}
    </ul>
  );
}
