import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";

/** A place to drop files on, with a button that does the same. */
export function DropZone({
  label,
  isMany,
  onFiles,
}: {
  readonly label: string;
  readonly isMany: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}): JSX.Element {
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
      <button type="button" class="button" onClick={() => input.current?.click()}>
        {label}
      </button>
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
