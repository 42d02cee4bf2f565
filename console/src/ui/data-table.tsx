import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

import { changeQuery, hrefOf, navigate, query } from '#console/app/router.ts';
import type { QueryChanges } from '#console/app/query.ts';
import { useResource, type Resource } from '#console/app/resources.ts';

import { Button } from './button.tsx';
import { CsvButton, type CsvExport } from './csv-button.tsx';
import { Empty, Loading } from './empty.tsx';
import { ErrorBox } from './error-box.tsx';
import { Filters, type Filter, type ReadyFilter } from './filters.tsx';
import { Cell } from './table-cell.tsx';
import { NextPage, Pages } from './table-pages.tsx';
import { exportPath, inAddress, pagePath, readTableState, type TableState } from './table-state.ts';
import { Heading } from './table-heading.tsx';

/** A column of a list. */
export interface Column<Row> {
  /** Unique in the table; the name to sort by if `sort` is set. */
  readonly key: string;
  readonly label: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** The order after the first click; absent: the list cannot be sorted by it. */
  readonly sort?: 'ascending' | 'descending';
  readonly align?: 'start' | 'end';
  /** Takes the width that others leave. */
  readonly grow?: boolean;
  /** Left out where the table is narrow. */
  readonly hideWhenNarrow?: boolean;
}

/** Of a page without `limit`. */
const DEFAULT_ROWS = 50;

/** A page of a list of the interface. */
interface ListPage<Row> {
  readonly items: readonly Row[];
  readonly next_cursor: string | null;
}

export interface DataTableProps<Row> {
  /** Where a page has several lists: precedes the parameters of this one in the address, such as `sales-`. */
  readonly prefix?: string;
  /** The list: `/api/v1/admin/licenses`. */
  readonly path: string;
  /** What is listed, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** The page of a row; the first column becomes the link. */
  readonly rowLink?: (row: Row) => string;
  /** The order of the list without `sort`, which a heading shows. */
  readonly defaultSort?: string;
  /** The placeholder of the search field; absent: no search. */
  readonly search?: string;
  readonly filters?: readonly Filter[];
  readonly ready?: readonly ReadyFilter[];
  /** Parameters that the operator cannot change. */
  readonly fixed?: QueryChanges;
  readonly limit?: number;
  readonly polls?: boolean;
  readonly csv?: CsvExport | readonly CsvExport[];
  /** What stands there when there is nothing without any filter. */
  readonly empty: { readonly title: string; readonly text?: ComponentChildren };
  /** Beside search and filters. */
  readonly actions?: ComponentChildren;
}

/** A list of the interface: searched, filtered, sorted and paged by the service; the address holds its state. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { path, fixed, limit = null, polls = false, filters = [], prefix, search } = props;
  const names = [
    'search',
    ...filters.flatMap(({ name }) => name),
    ...(props.ready ?? []).flatMap(({ query: set }) => Object.keys(set)),
  ];
  const state = readTableState(query.value, names, prefix);
  const page = useResource<ListPage<Row>>(pagePath(path, state, fixed, limit), { polls });
  const shown = useLast(page);
  return (
    <div class="data-table">
      <Filters
        {...(search === undefined ? {} : { search })}
        filters={filters}
        ready={props.ready ?? []}
        state={state}
      >
        {props.actions}
        {[props.csv ?? []].flat().map((csv) => (
          <CsvButton key={csv.path} {...csv} path={exportPath(csv.path, state, fixed)} />
        ))}
      </Filters>
      {page.error && <ErrorBox error={page.error} onRetry={page.reload} />}
      {shown === undefined && page.error === undefined && <Loading />}
      {shown !== undefined && (
        <Rows {...props} state={state} page={shown} isStale={shown !== page.data} />
      )}
    </div>
  );
}

/** Returns the last page, also while the next one is loaded, so that the table does not jump. */
function useLast<Body>({ data, error }: Resource<Body>): Body | undefined {
  const last = useRef<Body | undefined>(undefined);
  if (data !== undefined) last.current = data;
  return error === undefined || data !== undefined ? last.current : undefined;
}

interface RowsProps<Row> extends DataTableProps<Row> {
  readonly state: TableState;
  readonly page: ListPage<Row>;
  readonly isStale: boolean;
}

function Rows<Row>(props: RowsProps<Row>) {
  const { page, state, columns, caption, rowKey } = props;
  if (page.items.length === 0) return <NoRows {...props} />;
  return (
    <>
      <table class={`list ${props.isStale ? 'stale' : ''}`} role="table" aria-busy={props.isStale}>
        <caption>{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Heading
                key={column.key}
                column={column}
                state={state}
                sort={state.sort || props.defaultSort}
              />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {page.items.map((row) => (
            <tr
              key={rowKey(row)}
              role="row"
              class={props.rowLink ? 'linked' : ''}
              onClick={(event) => followRow(event, props.rowLink?.(row))}
            >
              {columns.map((column, index) => (
                <Cell key={column.key} column={column}>
                  {index === 0 && props.rowLink ? (
                    <a href={hrefOf(props.rowLink(row))}>{column.cell(row)}</a>
                  ) : (
                    column.cell(row)
                  )}
                </Cell>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Pages
        state={state}
        next={page.next_cursor}
        isPartial={page.items.length < (props.limit ?? DEFAULT_ROWS)}
      />
    </>
  );
}

/** Follows the link of a row for a plain click on the row, unless text is being selected. */
function followRow(event: MouseEvent, to: string | undefined): void {
  const { target } = event;
  if (to === undefined || !(target instanceof Element)) return;
  if (target.closest('a, button, input, label, summary') !== null) return;
  if (event.metaKey || event.ctrlKey || String(getSelection()) !== '') return;
  navigate(to);
}

function NoRows<Row>({ state, empty, isStale, page: { next_cursor: next } }: RowsProps<Row>) {
  if (next !== null) return isStale ? <Loading /> : <NextPage state={state} next={next} />;
  const isFiltered = Object.keys(state.filters).length > 0 || state.cursor !== '';
  if (!isFiltered) return <Empty title={empty.title}>{empty.text}</Empty>;
  const nothing = Object.fromEntries(Object.keys(state.filters).map((name) => [name, null]));
  return (
    <Empty title="Nothing matches">
      <Button onClick={() => changeQuery(inAddress(state, { ...nothing, cursor: null }))}>
        Clear all filters
      </Button>
    </Empty>
  );
}
