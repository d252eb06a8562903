import type { JSX } from "preact";
import type { RunState } from "../../../../wire/runs.ts";
import { stateWords } from "../state-words.ts";
import { Icon, type IconName } from "../../../parts/icon.tsx";

const displays: Readonly<Record<RunState, readonly [icon: IconName, tone: string]>> = {
  queued: ["layers", "muted"],
  running: ["bolt", "notice"],
  interrupted: ["alert", "warning"],
  completed: ["check", "good"],
  failed: ["cross", "danger"],
  refused: ["shield", "warning"],
  cancelled: ["ban", "muted"],
};

/** How far a run is: an icon and its words. */
export function RunStateMark({ status }: { readonly status: RunState }): JSX.Element {
  const [icon, tone] = displays[status];
  return (
    <span class={`mark ${tone}`}>
      <Icon name={icon} />
      {stateWords[status]}
    </span>
  );
}
