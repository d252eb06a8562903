import type { JSX } from "preact";
import { Icon } from "../../../parts/icon.tsx";
import { toVisible } from "../../../parts/visible-text.ts";
import type { OutputBlob, ShownResult, ShownRun } from "../../../../wire/runs.ts";
import { useBrowser } from "../../../state/browser.ts";
import { toSize } from "../to-size.ts";
import { BlobDownload } from "./blob-download.tsx";
import { RunOutput } from "./run-output.tsx";

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
                {toSize(sizeBytes)} · {toVisible(kind, 127)}
              </span>
              <code class="muted">{id}</code>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
