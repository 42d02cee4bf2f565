import type { ComponentChildren } from 'preact';

/** How a column is laid out. */
export interface ColumnLayout {
  readonly label: string;
  readonly align?: 'start' | 'end';
  readonly grow?: boolean;
  readonly hideWhenNarrow?: boolean;
}

/** Returns the classes of the cells of a column. */
export function classOf({ align, grow, hideWhenNarrow }: ColumnLayout): string {
  const names = [
    align === 'end' && 'number',
    grow === true && 'grow',
    hideWhenNarrow === true && 'wide-only',
  ];
  return names.filter(Boolean).join(' ');
}

interface CellProps {
  readonly column: ColumnLayout;
  readonly children?: ComponentChildren;
}

/** A cell. Where the table is narrow, it is a line with its label, and left out if it is empty. */
export function Cell({ column, children }: CellProps) {
  const isEmpty = children == null || children === '' || typeof children === 'boolean';
  return (
    <td role="cell" class={classOf(column)} data-label={column.label}>
      {!isEmpty && <div>{children}</div>}
    </td>
  );
}
