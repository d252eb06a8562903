import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { PlannedChange } from "../../../wire/sources.ts";
import { SourceErrorAlert } from "../../components/server-answer.tsx";
import { DiffText } from "../../components/diff-text.tsx";
import { ForeignList, foreignName, foreignText } from "../../components/foreign-text.tsx";
import { Button, Icon } from "../../components/icon.tsx";
import { counted } from "../../../../base/text/code-points.ts";
import type { InstallFlow } from "./use-installing.ts";

interface PlanReviewProps {
  readonly planned: NonNullable<InstallFlow["planned"]>;
  readonly installing: InstallFlow;
}

/** The changes of a plan, for the user to review before they are installed. */
export function PlanReview({ planned: { request, plan }, installing }: PlanReviewProps): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [plan]);
  const { doing, failed, apply, discard } = installing;
  const { changes, directory, problems } = plan;
  const doable = changes.filter(({ refused }) => refused === undefined);
  const isUpdate = doable.length > 0 && doable.every(({ action }) => action === "update");
  const isStale = failed?.error.code === "STALE";
  const words = `${isUpdate ? "Update" : "Install"} ${counted(doable.length, "skill")} in ${directory}`;
  return (
    <section aria-labelledby="review-title">
      <h3 id="review-title" ref={heading} tabIndex={-1}>
        {changes.length === 0 ? "Nothing to install" : `Review ${counted(changes.length, "change")}`}
      </h3>
      <ForeignList class="problems warning" texts={problems} limit={1_000} />
      {changes.length === 0 && problems.length === 0 && <p>Everything is installed and up to date.</p>}
      {changes.map(changeCard)}
      {doable.length > 0 && (
        <p class="muted">
          Installing grants nothing: what a skill requests is asked when it runs, or approved on its own page.
        </p>
      )}
      {failed !== undefined && failed.doing !== "discover" && <SourceErrorAlert error={failed.error} />}
      <div class="actions">
        {isStale ? (
          <Button kind="primary" text="Review again" onClick={() => installing.plan(request)} />
        ) : (
          doable.length > 0 && (
            <Button
              kind="primary"
              text={doing === "apply" ? "Installing …" : foreignText(words)}
              aria-disabled={doing !== undefined}
              onClick={apply}
            />
          )
        )}
        <Button text={doable.length > 0 ? "Cancel" : "Close"} onClick={discard} />
      </div>
    </section>
  );
}

const actions: Readonly<Record<PlannedChange["action"], string>> = {
  install: "install",
  update: "update",
  note: "only note in the lock; its files are here already",
};

function changeCard(change: PlannedChange): JSX.Element {
  const { name, source, action, description, from, to, isSameVersion, widened, wants, problems, files, moreFiles } =
    change;
  return (
    <article key={name} class="planned" aria-label={`${actions[action]} ${name}`}>
      <header>
        <h4>{foreignName(name)}</h4>
        <span class="muted">
          {actions[action]} {from !== undefined && foreignText(`${from} → `, 120)}
          {foreignText(to, 120)}
        </span>
      </header>
      {change.refused !== undefined && (
        <p class="failure">
          <Icon name="ban" />
          <span>Not installed: {foreignText(change.refused, 1_000)}</span>
        </p>
      )}
      {isSameVersion === true && <p class="warning">The same version has other files than before.</p>}
      {wants.length === 0 && <p class="muted">It requests nothing beyond its sandbox.</p>}
      <ForeignList class="requested warning" texts={widened.map((words) => `NEW: ${words}`)} limit={1_000} />
      <ForeignList class="requested" texts={wants.filter((words) => !widened.includes(words))} limit={1_000} />
      <p>{foreignText(description, 1_024)}</p>
      <p class="muted">from {foreignText(source, 300)}</p>
      <p class={change.signature.state === "invalid" ? "failure" : "muted"}>
        {foreignText(change.signature.words, 2_500)}
      </p>
      <ForeignList
        class="problems warning"
        texts={problems.map(({ severity, words }) => `${severity}: ${words}`)}
        limit={1_000}
      />
      {files.map(({ path, change: what, diff }) => (
        <details key={path} open={action === "update" && files.length <= 3}>
          <summary>
            <code>{foreignText(path)}</code> {what}
          </summary>
          <DiffText diff={diff} label={`Changes of ${path}`} />
        </details>
      ))}
      {moreFiles > 0 && <p class="muted">and {counted(moreFiles, "more file")}</p>}
    </article>
  );
}
