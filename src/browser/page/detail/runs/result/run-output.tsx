import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useBrowser } from "../../../state/browser.ts";
import { toSize } from "../to-size.ts";
import { BlobDownload } from "./blob-download.tsx";
import { JsonTree } from "./json-tree.tsx";

/** An output that is too large for the result: a part of it, and the blob that has all. */
interface Truncated {
  readonly blob_id: string;
  readonly size_bytes: number;
  readonly preview: string;
}

/** What a run returned. */
export function RunOutput({ output, isOwn }: { readonly output: unknown; readonly isOwn: boolean }): JSX.Element {
  const { server } = useBrowser().source;
  const [whole, setWhole] = useState<{ readonly value: unknown } | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  if (whole !== undefined) return <JsonTree value={whole.value} label="Output" />;
  if (!isTruncated(output)) return <JsonTree value={output} label="Output" />;
  const { blob_id: blob, size_bytes: bytes, preview } = output;
  const load = async (): Promise<void> => {
    try {
      if (server !== undefined) setWhole({ value: JSON.parse(await (await server.readBlob(blob)).text()) as unknown });
    } catch {
      setProblem("The whole output could not be read; it is stored for 24 hours.");
    }
  };
  return (
    <>
      <pre class="log" tabIndex={0} aria-label="The beginning of the output">
        {preview}
      </pre>
      {isOwn && server !== undefined && (
        <p class="run-actions">
          <button type="button" class="button" onClick={() => void load()}>
            Show all of the output ({toSize(bytes)})
          </button>
          <BlobDownload server={server} blob={blob} name="output.json">
            Download it
          </BlobDownload>
        </p>
      )}
      {problem !== undefined && <p role="alert">{problem}</p>}
    </>
  );
}

function isTruncated(output: unknown): output is Truncated {
  if (typeof output !== "object" || output === null) return false;
  const { truncated, blob_id, size_bytes, preview } = output as Readonly<Record<string, unknown>>;
  return (
    truncated === true && typeof blob_id === "string" && typeof size_bytes === "number" && typeof preview === "string"
  );
}
