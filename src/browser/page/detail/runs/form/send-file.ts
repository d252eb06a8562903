import type { SkillServer } from "../../../source/skill-server.ts";
import { SourceError } from "../../../source/source-error.ts";
import type { SentFile } from "../state/run-form.ts";

/** The largest file that the server stores. */
const maxBytes = 10 * 1024 * 1024;

let keys = 0;

/** Stores a file as a blob. `onChange` is called at once, and when it is stored or could not be. */
export function sendFile(server: SkillServer, file: File, onChange: (sent: SentFile) => void): void {
  const sent: SentFile = { key: ++keys, name: file.name, sizeBytes: file.size };
  if (file.size > maxBytes) {
    onChange({ ...sent, problem: "It is larger than 10 MiB." });
    return;
  }
  onChange(sent);
  server.storeBlob(file).then(
    ({ id }) => onChange({ ...sent, id }),
    (error: unknown) =>
      onChange({ ...sent, problem: error instanceof SourceError ? error.message : "It could not be read." }),
  );
}
