import type { JSX, ComponentChildren } from "preact";
import { Icon } from "../../../parts/icon.tsx";
import { toVisible } from "../../../parts/foreign-text.tsx";
import type { OutputBlob, ShownResult, ShownRun } from "../../../../wire/runs.ts";
import { useBrowser } from "../../../state/browser.ts";
import { formatBytes } from "../../../parts/formats.tsx";
import { useState } from "preact/hooks";
import { JsonTree } from "./json-tree.tsx";
import type { SkillServer } from "../../../source/skill-source.ts";

/** How a run ended: its error or output, and the files that it left. */
export function RunOutcomeView({
  run,
}: {
  readonly run: Pick<ShownRun, "result" | "error"> & { readonly blobs: readonly OutputBlob[]; readonly isOwn: boolean };
}): JSX.Element {
  const { result, error, blobs, isOwn } = run;
  return (
    <>
      {error !== undefined && <RunFailureAlert type={error.code} message={error.message} hint={error.hint} />}
      {result !== undefined && <Result result={result} isOwn={isOwn} />}
      {blobs.length > 0 && <Blobs blobs={blobs} isOwn={isOwn} />}
    </>
  );
}

function Result({ result, isOwn }: { readonly result: ShownResult; readonly isOwn: boolean }): JSX.Element {
  const { summary, error, logs_blob: log } = result;
  const { server } = useBrowser().source;
  return (
    <>
      {error === undefined ? (
        <p class="run-summary">{toVisible(summary, 2_000)}</p>
      ) : (
        <RunFailureAlert
          type={error.type}
          message={error.message}
          hint={error.code === error.type ? undefined : error.code}
        />
      )}
      {result.status === "completed" && <RunOutput output={result.output} isOwn={isOwn} />}
      {log !== undefined && isOwn && server !== undefined && (
        <p>
          <BlobDownload server={server} blob={log} name="log.txt">
            Download the whole log
          </BlobDownload>
        </p>
      )}
    </>
  );
}

/** What went wrong: its type, its message, what to do. */
export function RunFailureAlert({
  type,
  message,
  hint,
}: {
  readonly type: string;
  readonly message: string;
  readonly hint?: string | undefined;
}): JSX.Element {
  return (
    <div class="failure">
      <Icon name="alert" />
      <div>
        <strong class="danger">{toVisible(type, 128)}</strong>
        <p class="message">{toVisible(message, 4_000)}</p>
        {hint !== undefined && <p class="muted">{toVisible(hint, 1_000)}</p>}
      </div>
    </div>
  );
}

function Blobs({ blobs, isOwn }: { readonly blobs: readonly OutputBlob[]; readonly isOwn: boolean }): JSX.Element {
  const { server } = useBrowser().source;
  return (
    <section class="blobs">
      <h3>Files</h3>
      <ul>
        {blobs.map(({ id, kind, sizeBytes, path }) => {
          const name = path ?? id;
          const shown = toVisible(name, 300);
          const file = name.slice(name.lastIndexOf("/") + 1);
          return (
            <li key={id}>
              {isOwn && server !== undefined ? (
                <BlobDownload server={server} blob={id} name={file}>
                  <bdi>{shown}</bdi>
                </BlobDownload>
              ) : (
                <bdi>{shown}</bdi>
              )}
              <span class="muted">
                {formatBytes(sizeBytes)} · {toVisible(kind, 127)}
              </span>
              <code class="muted">{id}</code>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** An output that is too large for the result: a part of it, and the blob that has all. */
interface Truncated {
  readonly blob_id: string;
  readonly size_bytes: number;
  readonly preview: string;
}

/** What a run returned. */
function RunOutput({ output, isOwn }: { readonly output: unknown; readonly isOwn: boolean }): JSX.Element {
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
            Show all of the output ({formatBytes(bytes)})
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

/** Saves a blob as a file. Not a link to its address: the server answers nothing without the key that the page sends. */
function BlobDownload({
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
