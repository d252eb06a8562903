import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon.tsx";

/** What stands where there is nothing to show: one sentence why, and what to do. */
export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p class="title">{title}</p>
      {children}
    </div>
  );
}
