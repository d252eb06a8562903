import type { JSX, ComponentChildren } from "preact";

/** Paths on a grid of 16, drawn with a stroke of 1.5. */
const paths = {
  alert: "M8 2.2 14.3 13.3H1.7ZM8 6.5v3M8 11.4v.2",
  ban: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8ZM3.7 3.7l8.6 8.6",
  bolt: "M9 1.5 3 9h4.5L7 14.5 13 7H8.5Z",
  book: "M8 3.5C6.5 2.4 4.5 2.2 2 2.4v10.3c2.5-.2 4.5 0 6 1.1 1.5-1.1 3.5-1.3 6-1.1V2.4c-2.5-.2-4.5 0-6 1.1ZM8 3.5v10.3",
  check: "M3 8.5 6.5 12 13 4.5",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8Z",
  cross: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8ZM5.7 5.7l4.6 4.6M10.3 5.7l-4.6 4.6",
  diff: "M8 2.5v7M4.5 6h7M4.5 13h7",
  file: "M3.5 1.8h6l3 3v9.4h-9ZM9.3 1.8v3.3h3.2",
  filter: "M2 3.5h12M4.5 8h7M6.5 12.5h3",
  folder: "M1.8 12.7V3.3h4.5l1.5 2h6.4v7.4Z",
  info: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8ZM8 7.3v3.9M8 4.8v.2",
  keyboard: "M1.5 4h13v8h-13ZM4 6.6h.2M7 6.6h.2M10 6.6h.2M12.2 6.6h.2M5 9.5h6",
  layers: "M8 2 14.2 5.5 8 9 1.8 5.5ZM1.8 9 8 12.5 14.2 9",
  left: "M10 3 5 8l5 5",
  moon: "M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3Z",
  plug: "M5.5 1.8v4M10.5 1.8v4M3.5 5.8h9v2a4.5 4.5 0 0 1-9 0ZM8 12.3v2",
  question:
    "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8ZM6.3 6.3a1.7 1.7 0 1 1 2.4 1.6c-.5.2-.7.6-.7 1.2M8 11.3v.2",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 1 0 0-9ZM10.3 10.3 14 14",
  shield: "M8 1.8 13.3 3.7v4c0 3.3-2.2 5.5-5.3 6.5C4.9 13.2 2.7 11 2.7 7.7v-4Z",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 1 0 0-6ZM8 1.2v1.3M8 13.5v1.3M1.2 8h1.3M13.5 8h1.3M3.2 3.2l.9.9M11.9 11.9l.9.9M3.2 12.8l.9-.9M11.9 4.1l.9-.9",
  system: "M1.8 3h12.4v8.2H1.8ZM5.5 13.7h5",
} as const;

export type IconName = keyof typeof paths;

/** A picture beside a text with the same meaning; screen readers skip the picture. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}

type ButtonAttributes = Pick<
  JSX.IntrinsicElements["button"],
  "title" | "disabled" | "aria-label" | "aria-disabled" | "aria-pressed"
>;

interface ButtonProps extends ButtonAttributes {
  readonly text: ComponentChildren;
  /** The CSS classes besides `button`. */
  readonly kind?: string;
  /** Absent for a button that submits its form. */
  readonly onClick?: () => void;
}

export function Button({ text, kind = "", ...rest }: ButtonProps): JSX.Element {
  return (
    <button type={rest.onClick === undefined ? "submit" : "button"} class={`button ${kind}`} {...rest}>
      {text}
    </button>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  readonly class?: string;
  readonly onClick: () => void;
}

/** A button that shows a picture only. */
export function IconButton({ icon, label, class: size = "", onClick }: IconButtonProps): JSX.Element {
  return (
    <Button kind={`plain ${size}`} aria-label={label} title={label} onClick={onClick} text={<Icon name={icon} />} />
  );
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  /** Whether the view appears only after a short delay, for a state that usually ends before. */
  readonly isLate?: boolean;
  readonly children?: ComponentChildren;
}

/** The view if there is nothing to show: one sentence why, and what to do. */
export function Empty({ icon, title, isLate = false, children }: EmptyProps): JSX.Element {
  return (
    <div class={isLate ? "empty late" : "empty"}>
      <Icon name={icon} />
      <p class="title">{title}</p>
      {children}
    </div>
  );
}
