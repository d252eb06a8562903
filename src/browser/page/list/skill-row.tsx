import type { JSX } from "preact";
import type { SkillRow } from "../../wire/skills.ts";
import { ForeignName, ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icon.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { toShortNumber } from "../parts/short-number.ts";

/** One line of the list: what it is, where from, whether it is as it should be, and what it costs. */
export function SkillLine({ row }: { readonly row: SkillRow }): JSX.Element {
  const { name, description, kind, source, state, tokens } = row;
  return (
    <>
      <span class={`kind ${kind}`}>
        <Icon name={kind === "action" ? "bolt" : "book"} />
        <span class="words">{kind}</span>
      </span>
      <span class="name">
        <ForeignName name={name} />
      </span>
      <span class="source cut-start">
        <ForeignText text={source} />
      </span>
      <span class="description">
        <ForeignText text={description} />
      </span>
      <span class={`state ${state}`}>
        <StateMark state={state} />
      </span>
      <span class="tokens" title={`${tokens.listed} tokens in lists, ${tokens.instructions} when read (estimates)`}>
        {tokens.instructions > 0 && `${toShortNumber(tokens.instructions)} tokens`}
      </span>
    </>
  );
}
