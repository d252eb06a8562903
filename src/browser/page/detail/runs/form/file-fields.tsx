import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { SkillServer } from "../../../source/http-source.ts";
import { toSourceError } from "../../../source/skill-source.ts";
import { useServer } from "../../../state/browser.ts";
import type { RunFormState, SentFile } from "../state/run-form.ts";
import { type FieldIds, TextControl } from "./form-field.tsx";
import { Mark } from "../../../components/state-mark.tsx";
import { toVisible } from "../../../components/foreign-text.tsx";
import { formatBytes } from "../../../components/formats.tsx";
import { Button, IconButton } from "../../../components/icon.tsx";

interface BlobFieldProps {
  readonly ids: FieldIds;
  readonly form: RunFormState;
  /** The name of the argument. */
  readonly name: string;
}

/** The field of a blob argument: a chosen file, which is stored as a blob, or the id of a stored blob. */
export function BlobField({ ids, form, name }: BlobFieldProps): JSX.Element {
  const server = useServer();
  const [draft, file] = [form.draftOf(name), form.chosen.value[name]];
  const take = ([chosen]: readonly File[]): void => {
    if (chosen === undefined) return;
    form.setDraft(name, "");
    sendFile(server, chosen, (sent) => {
      form.setFile(name, sent);
      if (sent.id !== undefined) form.setDraft(name, sent.id);
    });
  };
  const remove = (): void => {
    form.setFile(name, undefined);
    form.setDraft(name, "");
  };
  // Once another id is typed, the chosen file is no longer the argument.
  const isShown = file !== undefined && (file.id === undefined || file.id === draft);
  return (
    <div class="blob-field">
      <DropZone label="Choose a file" isMany={false} onFiles={take} />
      {isShown && <FileLine file={file} onRemove={remove} />}
      <TextControl
        {...{ ids, value: draft, onText: (text) => form.setDraft(name, text) }}
        class="mono"
        placeholder="or the id of a blob: blob:…"
      />
    </div>
  );
}

interface DropZoneProps {
  readonly label: string;
  readonly isMany: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

/** An area to drop files on, with a button that opens a file dialog instead. */
export function DropZone({ label, isMany, onFiles }: DropZoneProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  const over = (event: DragEvent): void => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    setIsOver(true);
  };
  return (
    <div
      class={isOver ? "drop-zone over" : "drop-zone"}
      onDragEnter={over}
      onDragOver={over}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        onFiles([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <Button text={label} onClick={() => input.current?.click()} />
      <span class="muted">
        or drop {isMany ? "files" : "it"} here, at most 10 MiB{isMany ? " each" : ""}
      </span>
      <input
        ref={input}
        type="file"
        hidden
        multiple={isMany}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
    </div>
  );
}

/** A chosen file with its state: being sent, stored, or failed with a reason. */
export function FileLine({ file, onRemove }: { readonly file: SentFile; readonly onRemove: () => void }): JSX.Element {
  const { name, sizeBytes, id, problem } = file;
  const shown = toVisible(name, 200);
  return (
    <p class="file-line">
      <bdi class="name">{shown}</bdi>
      <span class="muted">{formatBytes(sizeBytes)}</span>
      {problem !== undefined ? (
        <span class="danger" role="alert">
          {problem}
        </span>
      ) : id === undefined ? (
        <progress aria-label={`Sending ${shown}`} />
      ) : (
        <Mark icon="check" tone="good" words="stored" />
      )}
      <IconButton icon="close" label={`Remove ${shown}`} onClick={onRemove} />
    </p>
  );
}

/** The maximum number of bytes of a file that the server stores. */
const maxBytes = 10 * 1024 * 1024;

let keys = 0;

/** Stores a file as a blob. `onChange` is called at once, and again when the file is stored or could not be. */
export function sendFile(server: SkillServer, file: File, onChange: (sent: SentFile) => void): void {
  const sent: SentFile = { key: ++keys, name: file.name, sizeBytes: file.size };
  if (file.size > maxBytes) {
    onChange({ ...sent, problem: "It is larger than 10 MiB." });
    return;
  }
  onChange(sent);
  server.storeBlob(file).then(
    ({ id }) => onChange({ ...sent, id }),
    (error: unknown) => onChange({ ...sent, problem: toSourceError(error).message }),
  );
}
