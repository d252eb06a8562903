import type { JSX } from "preact";
import { groupBy } from "../../../../base/limited-map.ts";
import type { SkillFileEntry } from "../../../wire/skills.ts";
import { foreignText } from "../../components/foreign-text.tsx";
import { formatBytes } from "../../components/formats.tsx";
import { Icon } from "../../components/icon.tsx";

/**
 * The files of a skill as a tree, directories first. Closed directories stay closed when files change. `above`: the path of the shown
 * directory, with a slash at its end.
 */
export function fileTree(
  files: readonly SkillFileEntry[],
  chosen: string | undefined,
  onChoose: (path: string) => void,
  above = "",
): JSX.Element {
  const inside = groupBy(files, ({ path }) => path.slice(above.length).replace(/(?<=\/).*/s, ""));
  const isFile = (name: string): number => Number(!name.endsWith("/"));
  const sorted = [...inside].sort(([a], [b]) => isFile(a) - isFile(b) || (a < b ? -1 : 1));
  return (
    <ul class="tree">
      {sorted.map(([name, own]) => (
        <li key={name}>
          {isFile(name) === 0 ? (
            <details open>
              <summary>
                <Icon name="folder" />
                {foreignText(name.slice(0, -1), 255)}
              </summary>
              {fileTree(own, chosen, onChoose, above + name)}
            </details>
          ) : (
            <button type="button" aria-current={above + name === chosen} onClick={() => onChoose(above + name)}>
              <Icon name="file" />
              {foreignText(name, 255)}
              <span class="size">{formatBytes(own[0]?.sizeBytes ?? 0)}</span>
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
