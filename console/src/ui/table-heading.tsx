import { changeQuery } from '#console/app/router.ts';

import { classOf, type ColumnLayout } from './table-cell.tsx';
import { inAddress, nextSort, sortDirection, type TableState } from './table-state.ts';

interface HeadingProps {
  readonly column: ColumnLayout & {
    readonly key: string;
    readonly sort?: 'ascending' | 'descending';
  };
  readonly state: TableState;
  readonly sort: string | undefined;
}

/** The heading of a column, which sorts the list where it can be sorted. */
export function Heading({ column, state, sort = '' }: HeadingProps) {
  const { key, label, sort: first } = column;
  const direction = sortDirection(sort, key);
  return (
    <th scope="col" role="columnheader" class={classOf(column)} aria-sort={direction}>
      {first === undefined ? (
        label || <span class="hidden">Actions</span>
      ) : (
        <button
          type="button"
          class="sort"
          onClick={() =>
            changeQuery(inAddress(state, { sort: nextSort(sort, key, first), cursor: null }))
          }
        >
          {label}
          <span aria-hidden="true" class="arrow">
            {direction === undefined ? '' : direction === 'ascending' ? '↑' : '↓'}
          </span>
        </button>
      )}
    </th>
  );
}
