import type { JSX } from "preact";
import type { FileContent, SkillFileEntry } from "../../../wire/skills.ts";
import { CopyButton, Digest } from "../../components/digest.tsx";
import { toVisible, foreignText } from "../../components/foreign-text.tsx";
import { formatBytes } from "../../components/formats.tsx";
import { Empty } from "../../components/icon.tsx";
import { SourceErrorAlert, useAnswer } from "../../components/server-answer.tsx";
import { SourceText } from "../markdown/source-text.tsx";
import { OpenInEditor } from "../open-in-editor.tsx";
import type { TabProps } from "../tabs.ts";
import { fileTree } from "./file-tree.tsx";

/** The tree of files, beside the file that the URL names; else SKILL.md. */
export function FilesTab({ detail, item, openTab }: TabProps): JSX.Element {
  const { row, files = [], filesOmitted = 0 } = detail;
  const chosen = item ?? files.find(({ path }) => /^skill\.md$/i.test(path))?.path;
  const file = files.find(({ path }) => path === chosen);
  return (
    <div class="files">
      <div>
        {fileTree(files, chosen, (path) => openTab("files", path))}
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

/** A file as text, of any kind: nothing is rendered. The file is read again when its bytes change. */
function FileView({ skill, file }: { readonly skill: string; readonly file: SkillFileEntry }): JSX.Element {
  const { path, sizeBytes, sha256 } = file;
  const { answer: content, error } = useAnswer(
    (server, signal) => server.file(skill, path, signal),
    [skill, path, sha256],
  );
  return (
    <section class="file" aria-label="File">
      <div class="bar">
        <h3 dir="ltr">{foreignText(path)}</h3>
        <span class="muted">{formatBytes(sizeBytes)}</span>
        <Digest digest={sha256} what="SHA-256 of the file" />
        <span class="actions">
          {content?.encoding === "utf-8" && <CopyButton text={content.content} what="text of the file" />}
          <OpenInEditor skill={skill} path={path} />
        </span>
      </div>
      <SourceErrorAlert error={error} />
      {content !== undefined && <Content {...content} />}
      {content === undefined && error === undefined && <p class="muted">Reading the file …</p>}
    </section>
  );
}

function Content({ content, encoding, sizeBytes, truncated }: FileContent): JSX.Element {
  if (encoding === "base64") return <p class="muted">This file is not text.</p>;
  if (content === "") return <p class="muted">The file is empty.</p>;
  return (
    <>
      {truncated && (
        <p class="caution">
          Only the first {formatBytes(new TextEncoder().encode(content).length)} of {formatBytes(sizeBytes)} are shown.
        </p>
      )}
      <SourceText text={content} label="Text of the file" />
    </>
  );
}
