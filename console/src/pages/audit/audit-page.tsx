import type { AuditEntry } from '@latchkey/contract';
import { auditEntries } from '@latchkey/contract/admin/audit';

import { hrefOf } from '#console/app/router.ts';
import { nameActor } from '#console/ui/labels.ts';
import { ListTable } from '#console/ui/list-table.tsx';
import { Page } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';
import { Json } from '#console/ui/timeline.tsx';

import { ChainState } from './chain-state.tsx';

const NO_WRAP = { whiteSpace: 'nowrap' };

/** Longer ids are shortened to their end. */
const MAX_SHOWN = 16;

/** Every manual change, and every access to secrets or personal data. */
export function AuditPage() {
  return (
    <Page
      title="Audit log"
      intro="Every manual change, and every access to keys or personal data. Entries are never changed."
    >
      <ChainState />
      <ListTable
        of={auditEntries}
        search="Words of an entry"
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'occurred_at',
            label: 'Time',
            sort: 'descending',
            cell: (each) => <Time at={each.occurred_at} />,
          },
          {
            key: 'actor',
            label: 'Actor',
            cell: ({ actor }) => <span title={actor}>{nameActor(actor)}</span>,
          },
          {
            key: 'action',
            label: 'Action',
            cell: (each) => <code style={NO_WRAP}>{each.action}</code>,
          },
          { key: 'subject', label: 'Subject', cell: (each) => <Subject entry={each} /> },
          { key: 'reason', label: 'Reason', grow: true, cell: (each) => <Reason entry={each} /> },
        ]}
        filters={[
          { name: 'actor', label: 'Actor' },
          { name: 'action', label: 'Action' },
          { name: 'subject_id', label: 'Subject' },
          { name: 'since', label: 'From', type: 'date' },
          { name: 'until', label: 'Before', type: 'date' },
        ]}
        ready={[
          { label: 'Licenses', query: { action: 'license' } },
          { label: 'Reveals', query: { search: 'reveal' } },
          { label: 'Exports', query: { search: 'export' } },
          { label: 'Operators', query: { action: 'operator' } },
          { label: 'Keys', query: { search: 'key' } },
        ]}
        empty={{ title: 'No entries', text: 'The first manual change is the first entry.' }}
      />
    </Page>
  );
}

/** The pages of subjects, by the nouns of actions. */
const PAGES: Readonly<Record<string, string>> = { license: '/licenses', operator: '/operators' };

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

function Subject({ entry: { action, subject_id: id } }: { readonly entry: AuditEntry }) {
  const page = PAGES[action.split('.', 1)[0] ?? ''];
  const shown = (
    <code title={id} style={NO_WRAP}>
      {id.length > MAX_SHOWN ? `…${id.slice(-8)}` : id}
    </code>
  );
  return page !== undefined && UUID.test(id) ? (
    <a href={hrefOf(`${page}/${id}`)}>{shown}</a>
  ) : (
    shown
  );
}

function Reason({ entry: { reason, details, sequence, hash } }: { readonly entry: AuditEntry }) {
  return (
    <>
      {reason}
      <details>
        <summary>Details</summary>
        <Json value={{ ...details, sequence, hash }} />
      </details>
    </>
  );
}
