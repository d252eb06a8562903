import type { JSX } from "preact";
import type { SkillInput } from "../../../../wire/skills.ts";
import { toVisible } from "../../../components/foreign-text.tsx";
import type { RunFormState } from "../state/run-form.ts";
import { BlobField } from "./file-fields.tsx";
import { type FieldIds, FormField, selectControl, TextControl } from "./form-field.tsx";

interface InputFieldProps {
  readonly form: RunFormState;
  readonly name: string;
  readonly input: SkillInput;
  readonly problem: string | undefined;
}

/** One input of a skill. Its problem is shown once something is typed; for JSON, once the user has tried to run the form. */
export function InputField({ problem, ...props }: InputFieldProps): JSX.Element {
  const { form, name, input } = props;
  const { type, description, required = false, default: preset } = input;
  const isChecked = form.isTried.value || (form.draftOf(name) !== "" && type !== "object" && type !== "array");
  const help = [
    ...(description === undefined ? [] : [toVisible(description, 1_000)]),
    ...(preset === undefined ? [] : [`Left empty: ${toVisible(JSON.stringify(preset), 200)}.`]),
  ].join(" ");
  const takes = input.enum === undefined ? typeChips[type] : "choice";
  const shown = { name, takes, help, problem: isChecked ? problem : undefined };
  return (
    <FormField {...shown} isRequired={required && preset === undefined}>
      {(ids) => inputControl(ids, props)}
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

function inputControl(ids: FieldIds, { form, name, input }: Omit<InputFieldProps, "problem">): JSX.Element {
  const { type, enum: choices } = input;
  const draft = form.draftOf(name);
  const onText = (text: string): void => form.setDraft(name, text);
  const shared = { ids, value: draft, onText };
  const toOption = (choice: unknown): string => (typeof choice === "string" ? choice : JSON.stringify(choice));
  if (choices !== undefined || type === "boolean") {
    const options =
      choices?.map((choice, index) => [String(index), toOption(choice)] as const) ??
      ["true", "false"].map((choice) => [choice, choice] as const);
    return selectControl(ids, draft, [["", "not given"], ...options], onText);
  }
  switch (type) {
    case "blob":
      return <BlobField {...{ ids, form, name }} />;
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
