import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "../../../parts/icon.tsx";
import { toVisible } from "../../../parts/visible-text.ts";

/** What a control needs so that its label, help and problem belong to it. */
export interface FieldIds {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean;
  readonly "aria-required": boolean;
}

/** A control with its name, what it takes, help, and what is wrong with it. */
export function FormField({
  name,
  takes,
  help,
  isRequired = false,
  problem,
  children,
}: {
  readonly name: string;
  readonly takes?: string;
  readonly help?: ComponentChildren;
  readonly isRequired?: boolean;
  readonly problem?: string | undefined;
  readonly children: (ids: FieldIds) => ComponentChildren;
}): JSX.Element {
  const id = useId();
  const described = [help !== undefined && `${id}-help`, problem !== undefined && `${id}-problem`].filter(Boolean);
  return (
    <div class="field">
      <label for={id}>
        <bdi>{toVisible(name, 128)}</bdi>
        {takes !== undefined && <span class="chip">{takes}</span>}
        {isRequired && <span class="chip notice">required</span>}
      </label>
      {children({
        id,
        "aria-describedby": described.length === 0 ? undefined : described.join(" "),
        "aria-invalid": problem !== undefined,
        "aria-required": isRequired,
      })}
      {problem !== undefined && (
        <p class="field-problem danger" id={`${id}-problem`}>
          <Icon name="alert" />
          <span>{toVisible(problem, 500)}</span>
        </p>
      )}
      {help !== undefined && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}
