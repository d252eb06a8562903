import type { JSX } from "preact";
import type { SkillServer } from "../../../source/skill-server.ts";
import type { SentFile } from "../state/run-form.ts";
import { DropZone } from "./drop-zone.tsx";
import { FileLine } from "./file-line.tsx";
import type { FieldIds } from "./field.tsx";
import { sendFile } from "./send-file.ts";

/** An argument that is a blob: a file that is stored as one, or the id of one that is there. */
export function BlobField({
  ids,
  draft,
  server,
  file,
  onFile,
  onChange,
}: {
  readonly ids: FieldIds;
  readonly draft: string;
  readonly server: SkillServer;
  /** What was chosen last. */
  readonly file: SentFile | undefined;
  readonly onFile: (file: SentFile) => void;
  readonly onChange: (draft: string) => void;
}): JSX.Element {
  const take = ([chosen]: readonly File[]): void => {
    if (chosen === undefined) return;
    onChange("");
    sendFile(server, chosen, (sent) => {
      onFile(sent);
      if (sent.id !== undefined) onChange(sent.id);
    });
  };
  // Once another id is typed, it is no longer the argument.
  const isShown = file !== undefined && (file.id === undefined || (file.id === draft && draft !== ""));
  return (
    <div class="blob-field">
      <DropZone label="Choose a file" isMany={false} onFiles={take} />
      {isShown && (
        <FileLine
          file={file}
          onRemove={() => {
            onFile({ ...file, id: "" });
            onChange("");
          }}
        />
      )}
      <input
        {...ids}
        class="mono"
        type="text"
        value={draft}
        placeholder="or the id of a blob: blob:…"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}
