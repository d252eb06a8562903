import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { toVisible } from "../../../components/foreign-text.tsx";
import { Icon } from "../../../components/icon.tsx";

/** The attributes that tie a control to its label, help and problem. */
export interface FieldIds {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean;
  readonly "aria-required": boolean;
}

interface FormFieldProps {
  readonly name: string;
  readonly takes?: string | undefined;
  readonly help?: string | undefined;
  readonly isRequired?: boolean;
  readonly problem?: string | undefined;
  readonly children: (ids: FieldIds) => ComponentChildren;
}

/** A control with its name, the kind of its value, its help and its problem. */
export function FormField(props: FormFieldProps): JSX.Element {
  const { name, takes, help = "", isRequired = false, problem, children } = props;
  const id = useId();
  const described = [...(help === "" ? [] : [`${id}-help`]), ...(problem === undefined ? [] : [`${id}-problem`])];
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
      {help !== "" && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}

interface TextProps {
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly class?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly inputMode?: "decimal" | "text" | undefined;
  /** The number of lines. Absent for an input of one line. */
  readonly rows?: number | undefined;
}

export function TextControl({ ids, rows, onText, ...shown }: TextProps & { readonly ids: FieldIds }): JSX.Element {
  const shared = { ...ids, ...shown, spellcheck: false };
  if (rows !== undefined)
    return <textarea {...shared} rows={rows} onInput={({ currentTarget }) => onText(currentTarget.value)} />;
  return (
    <input {...shared} type="text" autocomplete="off" onInput={({ currentTarget }) => onText(currentTarget.value)} />
  );
}

/** A text control with its name. */
export function TextField({ name, takes, help, problem, ...shown }: TextFieldProps): JSX.Element {
  return <FormField {...{ name, takes, help, problem }}>{(ids) => <TextControl ids={ids} {...shown} />}</FormField>;
}

type TextFieldProps = TextProps & Pick<FormFieldProps, "name" | "takes" | "help" | "problem">;

/** A control to choose one of the options. */
export function selectControl(
  ids: FieldIds,
  chosen: string,
  options: readonly (readonly [value: string, text: string])[],
  choose: (value: string) => void,
): JSX.Element {
  return (
    <select {...ids} value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {toVisible(text, 200)}
        </option>
      ))}
    </select>
  );
}
