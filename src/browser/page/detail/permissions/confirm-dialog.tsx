import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DecisionRequest } from "../../../wire/skills.ts";
import { ForeignName, ForeignText } from "../../parts/foreign-text.tsx";
import { useBrowser } from "../../state/browser.ts";
import { isStated } from "../../parts/state-mark.tsx";
import type { KnownDetail } from "../../source/skill-source.ts";
import type { Choice, Deciding } from "./use-decision.ts";

const words: Readonly<Record<DecisionRequest["decision"], { title: string; button: string; effect: string }>> = {
  approve: {
    title: "Approve",
    button: "Approve",
    effect: "Exactly these files may do what is listed, until you revoke it.",
  },
  once: {
    title: "Approve once",
    button: "Approve once",
    effect: "The next run from this page may do what is listed, with exactly these files.",
  },
  block: { title: "Block", button: "Block", effect: "No version of it will run, and its approvals do not count." },
  unblock: { title: "Unblock", button: "Unblock", effect: "It can be approved and run again." },
  revoke: { title: "Revoke the approval of", button: "Revoke", effect: "It has to be approved again before it runs." },
};

interface Properties {
  readonly deciding: Deciding;
  /** Says how the skill stands, and gets the focus when something was decided: the button that asked may be gone. */
  readonly outcome: RefObject<HTMLElement | null>;
}

/** Asks before anything is decided, naming the skill, its digest and the permissions it requests. */
export function ConfirmDialog({ deciding, outcome }: Properties): JSX.Element {
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

/** Where a decision will hold, as it will be recorded. */
function placeOf(decision: DecisionRequest["decision"], { permissions }: KnownDetail, chosen: Choice["reach"]): string {
  if (decision === "revoke" || decision === "unblock") return "where it was given";
  if (decision === "once") return reachWords.once;
  const usual = decision === "block" ? permissions?.blockReach : permissions?.reach;
  return reachWords[(decision === "approve" ? chosen : undefined) ?? usual ?? "everywhere"];
}

function Question({
  deciding,
  choice,
  shown,
}: { readonly deciding: Deciding } & NonNullable<Deciding["asked"]>): JSX.Element {
  const { title, button, effect } = words[choice.decision];
  const [reach, setReach] = useState<Choice["reach"]>();
  const { about } = useBrowser().source.server ?? {};
  const requested = shown.permissions?.wants.words ?? [];
  const grant = shown.permissions?.grants.find(({ id }) => id === choice.grant);
  const isWide = choice.decision === "approve" || choice.decision === "once";
  return (
    <form
      method="dialog"
      onSubmit={(event) => {
        event.preventDefault();
        deciding.confirm({ ...choice, ...(reach !== undefined && { reach }) });
      }}
    >
      <h2 id="decision-title">
        {title} <ForeignName name={shown.row.name} />?
      </h2>
      <p>{effect}</p>
      <dl class="fields">
        {isStated(grant?.version ?? shown.row.version) && (
          <div>
            <dt>Version</dt>
            <dd>
              <ForeignText text={grant?.version ?? shown.row.version} limit={80} />
            </dd>
          </div>
        )}
        <div>
          <dt>Digest</dt>
          <dd>
            <code class="whole">{grant?.digest ?? shown.digest}</code>
          </dd>
        </div>
        <div>
          <dt>{choice.decision === "revoke" ? "It could" : "It wants"}</dt>
          <dd>
            <ul>
              {(grant?.words ?? requested).map((permission) => (
                <li key={permission}>
                  <ForeignText text={permission} limit={Infinity} />
                </li>
              ))}
            </ul>
            {(grant?.words ?? requested).length === 0 && "nothing beyond its sandbox"}
          </dd>
        </div>
      </dl>
      <p class="muted">Recorded in the ledger: {placeOf(choice.decision, shown, reach)}.</p>
      {choice.decision === "approve" && (
        <fieldset>
          <legend>Where</legend>
          <label>
            <input type="radio" name="reach" checked={reach === undefined} onChange={() => setReach(undefined)} />
            Wherever the policy lets you approve it
          </label>
          <label>
            <input type="radio" name="reach" checked={reach === "project"} onChange={() => setReach("project")} />
            Only in this project{about?.value === undefined ? "" : `, ${about.value.directory}`}
          </label>
        </fieldset>
      )}
      <div class="bar end">
        <button type="button" class="button" onClick={deciding.cancel}>
          Cancel
        </button>
        <button type="submit" class={`button ${isWide ? "primary" : "danger"}`} aria-disabled={deciding.isSending}>
          {deciding.isSending ? "Sending …" : button}
        </button>
      </div>
    </form>
  );
}
