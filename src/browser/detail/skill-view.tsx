import type { JSX } from "preact";
import { Empty } from "../parts/empty.tsx";

export interface SkillViewProps {
  /** Of the skill, as in its row. */
  readonly id: string;
  /** What the URL names behind the skill: a tab, and what is shown in it. */
  readonly tab: string | undefined;
  readonly item: string | undefined;
}

export function SkillView({ id }: SkillViewProps): JSX.Element {
  return <Empty icon="book" title={id} />;
}
