import type { JSX, ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { ShownResult, ShownRun } from "../../../../wire/runs.ts";
import { toVisible } from "../../../components/foreign-text.tsx";
import { formatBytes } from "../../../components/formats.tsx";
import { Button, Icon } from "../../../components/icon.tsx";
import type { SkillServer } from "../../../source/http-source.ts";
import { useBrowser } from "../../../state/browser.ts";
import { JsonTree } from "./json-tree.tsx";

/** The outcome of a run: its error or output, and the files that it created. */
export function RunOutcomeView({ result, error, blobs, isOwn }: RunOutcomeProps): JSX.Element {
  const { server } = useBrowser().source;
  const downloads = isOwn ? server : undefined;
  return (
    <>
      {error !== undefined && runFailure(error.code, error.message, error.hint)}
      {result !== undefined && <Result result={result} server={downloads} />}
      {blobs.length > 0 && (
        <section class="blobs">
          <h3>Files</h3>
          <ul>
            {blobs.map(({ id, kind, sizeBytes, path = id }) => (
              <li key={id}>
                <BlobDownload server={downloads} blob={id} name={path.slice(path.lastIndexOf("/") + 1)}>
                  <bdi>{toVisible(path, 300)}</bdi>
                </BlobDownload>
                <span class="muted">
                  {formatBytes(sizeBytes)} · {toVisible(kind, 127)}
                </span>
                <code class="muted">{id}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

type RunOutcomeProps = Pick<ShownRun, "result" | "error" | "blobs" | "isOwn">;

interface ResultProps {
  readonly result: ShownResult;
  /** Absent if blobs cannot be downloaded. */
  readonly server: SkillServer | undefined;
}

function Result({ result: { status, summary, error, output, logs_blob: log }, server }: ResultProps): JSX.Element {
  return (
    <>
      {error === undefined ? (
        <p class="run-summary">{toVisible(summary, 2_000)}</p>
      ) : (
        runFailure(error.type, error.message, error.code === error.type ? undefined : error.code)
      )}
      {status === "completed" && <RunOutput output={output} server={server} />}
      {log !== undefined && server !== undefined && (
        <p>
          <BlobDownload server={server} blob={log} name="log.txt">
            Download the whole log
          </BlobDownload>
        </p>
      )}
    </>
  );
}

/** A failure: its type, its message, what to do. */
export function runFailure(type: string, message: string, hint: string | undefined): JSX.Element {
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

/** An output that is too large for the result: its beginning, and the blob with the whole output. */
interface Truncated {
  readonly truncated: true;
  readonly blob_id: string;
  readonly size_bytes: number;
  readonly preview: string;
}

interface RunOutputProps extends Pick<ResultProps, "server"> {
  readonly output: unknown;
}

/** The output of a run; a truncated one is loaded when the user requests it. */
function RunOutput({ output, server }: RunOutputProps): JSX.Element {
  const [whole, setWhole] = useState<{ readonly value: unknown }>();
  const [problem, setProblem] = useState<string>();
  if (whole !== undefined || !isTruncated(output))
    return (
      <div class="json-tree mono" role="group" aria-label="Output" tabIndex={0}>
        <JsonTree value={(whole ?? { value: output }).value} />
      </div>
    );
  const { blob_id: blob, size_bytes: bytes, preview } = output;
  const load = async (from: SkillServer): Promise<void> => {
    try {
      setWhole({ value: JSON.parse(await (await from.readBlob(blob)).text()) as unknown });
    } catch {
      setProblem("The whole output could not be read; it is stored for 24 hours.");
    }
  };
  return (
    <>
      <pre class="log" tabIndex={0} aria-label="The beginning of the output">
        {preview}
      </pre>
      {server !== undefined && (
        <p class="run-actions">
          <Button text={`Show all of the output (${formatBytes(bytes)})`} onClick={() => void load(server)} />
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
  const { truncated, blob_id, size_bytes, preview } = output as Partial<Truncated>;
  return (
    truncated === true && typeof blob_id === "string" && typeof size_bytes === "number" && typeof preview === "string"
  );
}

interface BlobDownloadProps extends Pick<ResultProps, "server"> {
  readonly blob: string;
  readonly name: string;
  readonly children: ComponentChildren;
}

/** Saves a blob as a file. A link to its URL would fail: the server answers only requests with the key that the page sends. */
function BlobDownload({ server, blob, name, children }: BlobDownloadProps): JSX.Element {
  const [problem, setProblem] = useState<string>();
  if (server === undefined) return <>{children}</>;
  const save = async (): Promise<void> => {
    setProblem(undefined);
    try {
      const address = URL.createObjectURL(await server.readBlob(blob));
      Object.assign(document.createElement("a"), { href: address, download: name }).click();
      // The browser reads the URL after the click.
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
