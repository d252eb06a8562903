import { useEffect, useRef, useState } from "preact/hooks";
import type { DecisionRequest, SkillPermissions } from "../../../wire/skills.ts";
import { type KnownDetail, toSourceError } from "../../source/skill-source.ts";
import { useBrowser } from "../../state/browser.ts";
import type { MarkDisplay } from "../../components/state-mark.tsx";

export type Choice = Pick<DecisionRequest, "decision" | "grant" | "reach">;

interface DecisionState {
  /** The choice that the user is asked to confirm, and the detail exactly as it was shown when they began. */
  readonly asked?: { readonly choice: Choice; readonly shown: KnownDetail } | undefined;
  /** Why nothing was decided, or what changed meanwhile. Shown until the next attempt. */
  readonly notice?: { readonly title: string; readonly details: readonly string[] } | undefined;
  readonly isSending: boolean;
  /** The number of decisions taken. */
  readonly decided: number;
}

export interface Deciding extends DecisionState {
  readonly ask: (choice: Choice) => void;
  readonly cancel: () => void;
  readonly confirm: (choice: Choice) => void;
}

type DecisionWords = readonly [title: string, effect: string, done: string];

/** The title of each decision, its effect, and the announcement once it is taken. */
export const decisions: Readonly<Record<DecisionRequest["decision"], DecisionWords>> = {
  approve: ["Approve", "Exactly these files may do what is listed, until you revoke it.", "Approved."],
  once: ["Approve once", "Its next run from here, with exactly these files, may do what is listed.", "Approved once."],
  block: ["Block", "No version of it will run, and its approvals do not count.", "Blocked."],
  unblock: ["Unblock", "It can be approved and run again.", "Unblocked."],
  revoke: ["Revoke", "It has to be approved again before it runs.", "The approval was revoked."],
};

/**
 * Decides about exactly the bytes that the user was shown. If the bytes change before the decision or while it is sent, nothing is
 * decided, and the notice lists the changes.
 */
export function useDecision(detail: KnownDetail, reload: () => Promise<KnownDetail | undefined>): Deciding {
  const { source, announcement } = useBrowser();
  const [state, setState] = useState<DecisionState>({ isSending: false, decided: 0 });
  const show = (changes: Partial<DecisionState>): void => setState((before) => ({ ...before, ...changes }));
  const { asked, decided } = state;
  // State changes take effect in the next rendering, and two clicks may come before that.
  const sending = useRef(false);

  const becameStale = (shown: KnownDetail, now: KnownDetail): void => {
    const title = "This skill changed. Nothing was decided; look at it again.";
    show({ asked: undefined, notice: { title, details: whatChanged(shown, now) } });
  };
  useEffect(() => {
    if (asked !== undefined && !sending.current && asked.shown.digest !== detail.digest)
      becameStale(asked.shown, detail);
  }, [detail.digest]);

  const confirm = async (choice: Choice): Promise<void> => {
    const { digest, nonce } = asked?.shown ?? {};
    if (asked === undefined || digest === undefined || nonce === undefined || sending.current) return;
    sending.current = true;
    show({ isSending: true });
    try {
      await source.server?.decide(detail.row.id, { ...choice, digest, nonce });
      await reload();
      show({ asked: undefined, decided: decided + 1 });
      announcement.value = decisions[choice.decision][2];
    } catch (error) {
      const now = await reload();
      const { code, message, hint } = toSourceError(error);
      if (code === "STALE" && now !== undefined) becameStale(asked.shown, now);
      else show({ asked: undefined, notice: { title: message, details: hint === undefined ? [] : [hint] } });
    } finally {
      sending.current = false;
      show({ isSending: false });
    }
  };

  return {
    ...state,
    ask: (choice) => show({ notice: undefined, asked: { choice, shown: detail } }),
    cancel: () => show({ asked: undefined }),
    confirm: (choice) => void confirm(choice),
  };
}

/** The differences between two readings of a skill, in sentences for the user, who decides again. */
function whatChanged(before: KnownDetail, after: KnownDetail): readonly string[] {
  const earlier = new Map(before.files?.map(({ path, sha256 }) => [path, sha256]));
  const later = new Map(after.files?.map(({ path, sha256 }) => [path, sha256]));
  const [old, now] = [before.permissions, after.permissions];
  const [requestedBefore, requestedNow] = [old?.wants.words ?? [], now?.wants.words ?? []];
  return [
    ...requestedNow.filter((words) => !requestedBefore.includes(words)).map((words) => `It now wants: ${words}`),
    ...requestedBefore.filter((words) => !requestedNow.includes(words)).map((words) => `It no longer wants: ${words}`),
    ...[...new Set([...earlier.keys(), ...later.keys()])]
      .filter((path) => earlier.get(path) !== later.get(path))
      .map((path) => `${path} was ${!earlier.has(path) ? "added" : !later.has(path) ? "removed" : "changed"}.`),
    ...(old?.isBlocked === now?.isBlocked ? [] : [now?.isBlocked === true ? "It was blocked." : "It was unblocked."]),
    ...(old?.grants.length === now?.grants.length ? [] : ["Its approvals changed."]),
  ];
}

interface StandingDisplay extends MarkDisplay {
  /** The decisions that the user can take now, the likeliest first. */
  readonly choices: readonly Exclude<DecisionRequest["decision"], "revoke">[];
}

/** Whether the skill may run as it is installed now, and what can be decided about that. */
export function standingDisplayOf(permissions: SkillPermissions): StandingDisplay {
  const { isBlocked, denied, isFree, grants, changedFiles } = permissions;
  if (isBlocked) return { words: "Blocked: no version of it runs", icon: "ban", tone: "danger", choices: ["unblock"] };
  if (denied !== undefined) return { words: "Denied by a policy", icon: "ban", tone: "danger", choices: ["block"] };
  if (grants.some(({ isCurrent }) => isCurrent))
    return { words: "Approved as it is now", icon: "check", tone: "good", choices: ["block"] };
  const free = "Needs no approval: it wants nothing beyond its sandbox";
  if (isFree) return { words: free, icon: "check", tone: "good", choices: ["block"] };
  const choices = ["approve", "once", "block"] as const;
  if (changedFiles.length + grants.length > 0)
    return { words: "Changed since it was approved", icon: "diff", tone: "notice", choices };
  return { words: "Needs approval before it runs", icon: "shield", tone: "notice", choices };
}
