import type { AnyListResource, ItemOf } from '@latchkey/contract';

import { pathOf, type ParamsOf } from '#console/app/call.ts';

import { exportOf, type CsvExport } from './csv-button.tsx';
import { DataTable, type DataTableProps } from './data-table.tsx';
import { sentenceCase } from './labels.ts';

type ListTableProps<Of extends AnyListResource> = Omit<
  DataTableProps<ItemOf<Of>>,
  'path' | 'caption' | 'defaultSort' | 'csv'
> & {
  readonly of: Of;
  /** Further exports of what is listed. */
  readonly exports?: readonly CsvExport[];
} & ParamsOf<Of['list']>;

/** A list of the interface: its path, order and export are those that the contract declares. */
export function ListTable<Of extends AnyListResource>(props: ListTableProps<Of>) {
  const { of, params = {}, exports = [] } = props;
  return (
    <DataTable<ItemOf<Of>>
      {...props}
      path={pathOf(of.list, { params })}
      caption={sentenceCase(of.title)}
      defaultSort={of.sorts[0]}
      csv={[exportOf(of.export, { params, query: {} }), ...exports]}
    />
  );
}
