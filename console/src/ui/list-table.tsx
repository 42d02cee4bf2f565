import type { AnyListResource, ItemOf } from '@latchkey/contract';

import { pathOf } from '#console/app/call.ts';

import { exportOf } from './csv-button.tsx';
import { DataTable, type DataTableProps } from './data-table.tsx';
import { sentenceCase } from './labels.ts';

interface ListTableProps<Of extends AnyListResource> extends Omit<
  DataTableProps<ItemOf<Of>>,
  'path' | 'caption' | 'defaultSort' | 'csv'
> {
  readonly of: Of;
}

/** A list of the interface: its path, order and export are those that the contract declares. */
export function ListTable<Of extends AnyListResource>({ of, ...shown }: ListTableProps<Of>) {
  return (
    <DataTable<ItemOf<Of>>
      {...shown}
      path={pathOf(of.list)}
      caption={sentenceCase(of.title)}
      defaultSort={of.sorts[0]}
      csv={exportOf(of.export, { query: {} })}
    />
  );
}
