import type { JSX } from "preact";
import { Empty } from "../../parts/empty.tsx";
import { toVisible } from "../../parts/visible-text.ts";
import type { TabProps } from "../tabs.ts";
import { FileTreeView } from "./file-tree.tsx";
import { FileView } from "./file-view.tsx";

/** The tree of files, and the one that the URL names; else SKILL.md. */
export function FilesTab({ detail, item, openTab }: TabProps): JSX.Element {
  const { row, files = [], filesOmitted = 0 } = detail;
  const chosen = item ?? files.find(({ path }) => /^skill\.md$/i.test(path))?.path;
  const file = files.find(({ path }) => path === chosen);
  return (
    <div class="files">
      <div>
        <FileTreeView files={files} chosen={chosen} onChoose={(path) => openTab("files", path)} />
        {filesOmitted > 0 && <p class="muted">And {filesOmitted} more files that are not listed.</p>}
      </div>
      {file !== undefined ? (
        <FileView key={file.path} skill={row.id} file={file} />
      ) : (
        <Empty
          icon="file"
          title={chosen === undefined ? "Choose a file." : `There is no file ${toVisible(chosen, 120)} in this skill.`}
        />
      )}
    </div>
  );
}
