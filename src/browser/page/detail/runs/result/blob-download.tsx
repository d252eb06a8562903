import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { SkillServer } from "../../../source/skill-server.ts";

/** Saves a blob as a file. Not a link to its address: the server answers nothing without the key that the page sends. */
export function BlobDownload({
  server,
  blob,
  name,
  children,
}: {
  readonly server: SkillServer;
  readonly blob: string;
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  const [problem, setProblem] = useState<string>();
  const save = async (): Promise<void> => {
    setProblem(undefined);
    try {
      const address = URL.createObjectURL(await server.readBlob(blob));
      const link = Object.assign(document.createElement("a"), { href: address, download: name });
      link.click();
      // The browser reads it after the click.
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    } catch {
      setProblem("This file could not be read; files are stored for 24 hours.");
    }
  };
  return (
    <>
      <button type="button" class="download" onClick={() => void save()}>
        {children}
      </button>
      {problem !== undefined && <span role="alert"> {problem}</span>}
    </>
  );
}
