import type { JSX } from "preact";
import type { SkillInput } from "../../../../wire/skills.ts";
import { toVisible } from "../../../parts/foreign-text.tsx";
import { BlobField, type BlobFieldProps } from "./file-fields.tsx";
import { type FieldIds, FormField, selectControl, TextControl } from "./form-field.tsx";

interface InputFieldProps extends Omit<BlobFieldProps, "ids"> {
  readonly name: string;
  readonly input: SkillInput;
  readonly problem: string | undefined;
}

/** One input of a skill. */
export function InputField(props: InputFieldProps): JSX.Element {
  const { name, input, problem } = props;
  const { type, description, required = false, default: preset } = input;
  const help = [
    ...(description === undefined ? [] : [toVisible(description, 1_000)]),
    ...(preset === undefined ? [] : [`Left empty: ${toVisible(JSON.stringify(preset), 200)}.`]),
  ].join(" ");
  const takes = input.enum === undefined ? typeChips[type] : "choice";
  return (
    <FormField {...{ name, takes, problem, help }} isRequired={required && preset === undefined}>
      {(ids) => <InputControl ids={ids} {...props} />}
    </FormField>
  );
}

const typeChips: Readonly<Record<SkillInput["type"], string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  object: "JSON object",
  array: "JSON array",
  blob: "file",
};

function InputControl(props: InputFieldProps & { readonly ids: FieldIds }): JSX.Element {
  const { ids, input, draft, onChange } = props;
  const { type, enum: choices } = input;
  const shared = { ids, value: draft, onText: onChange };
  const toOption = (choice: unknown): string => (typeof choice === "string" ? choice : JSON.stringify(choice));
  if (choices !== undefined || type === "boolean") {
    const options =
      choices?.map((choice, index) => [String(index), toOption(choice)] as const) ??
      ["true", "false"].map((choice) => [choice, choice] as const);
    return selectControl(ids, draft, [["", "not given"], ...options], onChange);
  }
  switch (type) {
    case "blob":
      return <BlobField {...props} />;
    case "object":
    case "array": {
      const rows = Math.min(12, Math.max(3, draft.split("\n").length));
      return <TextControl {...shared} class="mono" rows={rows} placeholder={type === "array" ? "[ ]" : "{ }"} />;
    }
    case "integer":
    case "number":
      return <TextControl {...shared} inputMode="decimal" />;
    case "string":
      return <TextControl {...shared} rows={draft.includes("\n") ? 4 : undefined} />;
  }
}
