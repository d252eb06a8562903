import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DecisionRequest } from "../../../wire/skills.ts";
import { fieldList } from "../../components/fields.tsx";
import { ForeignList, foreignName } from "../../components/foreign-text.tsx";
import { useBrowser } from "../../state/browser.ts";
import { isStated } from "../../components/state-mark.tsx";
import type { KnownDetail } from "../../source/skill-source.ts";
import { type Choice, type Deciding, decisions } from "./use-decision.ts";
import { Button } from "../../components/icon.tsx";

interface DialogProps {
  readonly deciding: Deciding;
  /** The heading with the skill's standing. Gets the focus after a decision, because the button that asked may be gone. */
  readonly outcome: RefObject<HTMLElement | null>;
}

/** Asks for confirmation before a decision, naming the skill, its digest and the permissions it requests. */
export function ConfirmDialog({ deciding, outcome }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const seen = useRef(0);
  const { asked, cancel, decided } = deciding;
  useEffect(() => {
    if (asked !== undefined && dialog.current?.open === false) dialog.current.showModal();
    if (asked !== undefined) return;
    dialog.current?.close();
    if (decided > seen.current) outcome.current?.focus();
    seen.current = decided;
  }, [asked, decided]);
  return (
    <dialog class="sheet" ref={dialog} aria-labelledby="decision-title" onClose={cancel}>
      {asked !== undefined && <Question key={asked.choice.decision} deciding={deciding} {...asked} />}
    </dialog>
  );
}

const reachWords = {
  once: "for the next run from this page",
  session: "until this page's server ends",
  project: "in this project",
  everywhere: "everywhere",
} as const;

interface QuestionProps extends NonNullable<Deciding["asked"]> {
  readonly deciding: Deciding;
}

/** The reach of a decision in words, as the ledger will record it. */
function scopeOf(decision: DecisionRequest["decision"], { permissions }: KnownDetail, chosen: Choice["reach"]): string {
  if (decision === "revoke" || decision === "unblock") return "where it was given";
  if (decision === "once") return reachWords.once;
  const usual = decision === "block" ? permissions?.blockReach : permissions?.reach;
  return reachWords[(decision === "approve" ? chosen : undefined) ?? usual ?? "everywhere"];
}

function Question({ deciding, choice, shown }: QuestionProps): JSX.Element {
  const { decision } = choice;
  const [title, effect] = decisions[decision];
  const [reach, setReach] = useState<Choice["reach"]>();
  const about = useBrowser().source.server?.about.value;
  const grant = shown.permissions?.grants.find(({ id }) => id === choice.grant);
  const requested = (grant ?? shown.permissions?.wants)?.words ?? [];
  const version = grant?.version ?? shown.row.version;
  const isWide = decision === "approve" || decision === "once";
  return (
    <form
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault();
        deciding.confirm({ ...choice, ...(reach !== undefined && { reach }) });
      }}
    >
      <h2 id="decision-title">
        {decision === "revoke" ? "Revoke the approval of" : title} {foreignName(shown.row.name)}?
      </h2>
      <p>{effect}</p>
      {fieldList([
        ["Version", isStated(version) ? version : undefined],
        ["Digest", <code class="whole">{grant?.digest ?? shown.digest}</code>],
        [
          decision === "revoke" ? "It could" : "It wants",
          requested.length === 0 ? "nothing beyond its sandbox" : <ForeignList texts={requested} />,
        ],
      ])}
      <p class="muted">Recorded in the ledger: {scopeOf(decision, shown, reach)}.</p>
      {decision === "approve" && (
        <fieldset>
          <legend>Where</legend>
          <label>
            <input type="radio" name="reach" checked={reach === undefined} onChange={() => setReach(undefined)} />
            Wherever the policy lets you approve it
          </label>
          <label>
            <input type="radio" name="reach" checked={reach === "project"} onChange={() => setReach("project")} />
            Only in this project{about === undefined ? "" : `, ${about.directory}`}
          </label>
        </fieldset>
      )}
      <div class="bar end">
        <Button text="Cancel" onClick={deciding.cancel} />
        <Button
          kind={isWide ? "primary" : "danger"}
          text={deciding.isSending ? "Sending …" : title}
          aria-disabled={deciding.isSending}
        />
      </div>
    </form>
  );
}
