import type { AnyListResource, ItemOf } from '@latchkey/contract';

import { pathOf, type ParamsOf } from '#console/app/call.ts';

import { exportOf } from './csv-button.tsx';
import { DataTable, type DataTableProps } from './data-table.tsx';
import { sentenceCase } from './labels.ts';

type ListTableProps<Of extends AnyListResource> = Omit<
  DataTableProps<ItemOf<Of>>,
  'path' | 'caption' | 'defaultSort' | 'csv'
> & { readonly of: Of } & ParamsOf<Of['list']>;

/** A list of the interface: its path, order and export are those that the contract declares. */
export function ListTable<Of extends AnyListResource>(props: ListTableProps<Of>) {
  const { of, params = {} } = props;
  return (
    <DataTable<ItemOf<Of>>
      {...props}
      path={pathOf(of.list, { params })}
      caption={sentenceCase(of.title)}
      defaultSort={of.sorts[0]}
      csv={exportOf(of.export, { params, query: {} })}
    />
  );
}
