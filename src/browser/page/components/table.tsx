import type { ComponentChildren, JSX } from "preact";

/** Rows under titles, each named by its first cell. Numbers are aligned to the end of their column. */
export function titledTable(titles: readonly string[], rows: readonly (readonly ComponentChildren[])[]): JSX.Element {
  const classOf = (cell: ComponentChildren): string | undefined => (typeof cell === "number" ? "number" : undefined);
  return (
    <table>
      <thead>
        <tr>
          {titles.map((title, column) => (
            <th key={title} scope="col" class={classOf(rows[0]?.[column])}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...cells], row) => (
          <tr key={row}>
            <th scope="row">{name}</th>
            {cells.map((cell, column) => (
              <td key={column} class={classOf(cell)}>
                {typeof cell === "number" ? cell.toLocaleString() : cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
