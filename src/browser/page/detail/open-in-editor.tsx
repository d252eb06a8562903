import type { JSX } from "preact";
import type { OpenFile } from "../../wire/skills.ts";
import { SourceError } from "../source/skill-source.ts";
import { canAct, useBrowser } from "../state/browser.ts";
import { Button } from "../components/icon.tsx";

/** A button that opens a position in the user's editor; null if the source cannot open files. */
export function OpenInEditor({ skill, ...file }: OpenFile & { readonly skill: string }): JSX.Element | null {
  const { source, announcement } = useBrowser();
  const { server } = source;
  if (server === undefined || !canAct(source)) return null;
  const open = async (): Promise<void> => {
    try {
      await server.open(skill, file);
      announcement.value = `Opened ${file.path} in the editor.`;
    } catch (error) {
      announcement.value = error instanceof SourceError ? [error.message, error.hint].join(" ") : String(error);
    }
  };
  return <Button text="Open in editor" onClick={() => void open()} />;
}
