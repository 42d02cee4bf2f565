import type { Column } from './data-table.tsx';
import { Empty } from './empty.tsx';
import { Cell, classOf } from './table-cell.tsx';

interface PlainTableProps<Row> {
  /** What is listed, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Omit<Column<Row>, 'sort'>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** What stands there without rows. */
  readonly empty?: string;
}

/** A short list that is complete: neither pages nor filters. */
export function PlainTable<Row>(props: PlainTableProps<Row>) {
  const { caption, columns, rows, rowKey, empty = 'Nothing here.' } = props;
  if (rows.length === 0) return <Empty title={empty} />;
  return (
    <table class="list" role="table">
      <caption>{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column.key} scope="col" role="columnheader" class={classOf(column)}>
              {column.label || <span class="hidden">Actions</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={rowKey(row)} role="row">
            {columns.map((column) => (
              <Cell key={column.key} column={column}>
                {column.cell(row)}
              </Cell>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
