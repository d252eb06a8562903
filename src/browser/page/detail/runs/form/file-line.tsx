import type { JSX } from "preact";
import { Icon } from "../../../parts/icon.tsx";
import { toVisible } from "../../../parts/visible-text.ts";
import { toSize } from "../to-size.ts";
import type { SentFile } from "../state/run-form.ts";

/** A chosen file: being sent, stored, or why not. */
export function FileLine({ file, onRemove }: { readonly file: SentFile; readonly onRemove: () => void }): JSX.Element {
  const { name, sizeBytes, id, problem } = file;
  const shown = toVisible(name, 200);
  return (
    <p class="file-line">
      <bdi class="name">{shown}</bdi>
      <span class="muted">{toSize(sizeBytes)}</span>
      {problem !== undefined ? (
        <span class="danger" role="alert">
          {problem}
        </span>
      ) : id === undefined ? (
        <progress aria-label={`Sending ${shown}`} />
      ) : (
        <span class="mark good">
          <Icon name="check" />
          stored
        </span>
      )}
      <button type="button" class="button plain" aria-label={`Remove ${shown}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </p>
  );
}
