import type { WebhookDeliveryItem } from '@latchkey/contract';
import { webhookDeliveries } from '@latchkey/contract/admin/webhook-deliveries';

import { Badge } from '#console/ui/badge.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import { ListTable } from '#console/ui/list-table.tsx';
import { Time } from '#console/ui/time.tsx';

import {
  DELIVERY_STATES,
  nameEndpoint,
  pathOfDelivery,
  toneOfDelivery,
  TYPE_OPTIONS,
} from './webhook-labels.ts';

const COLUMNS: readonly Column<WebhookDeliveryItem>[] = [
  { key: 'type', label: 'Event', cell: (each) => each.type },
  {
    key: 'state',
    label: 'State',
    cell: ({ state }) => <Badge tone={toneOfDelivery(state)}>{state}</Badge>,
  },
  { key: 'result', label: 'Last result', grow: true, cell: LastResult },
  { key: 'attempts', label: 'Attempts', align: 'end', cell: (each) => each.attempts },
  {
    key: 'created_at',
    label: 'Created',
    sort: 'descending',
    cell: (each) => <Time at={each.created_at} />,
  },
];

const ENDPOINT_COLUMN: Column<WebhookDeliveryItem> = {
  key: 'endpoint',
  label: 'Endpoint',
  hideWhenNarrow: true,
  cell: ({ endpoint_url: url }) =>
    url === null ? (
      <span class="dim">removed</span>
    ) : (
      <span class="break">{nameEndpoint(url)}</span>
    ),
};

interface DeliveryTableProps {
  /** Null: those of all endpoints. */
  readonly endpointId: string | null;
}

/** Deliveries of the last 30 days. */
export function DeliveryTable({ endpointId }: DeliveryTableProps) {
  return (
    <ListTable
      of={webhookDeliveries}
      search="Message or license id"
      rowKey={({ message_id: message, endpoint_id: endpoint }) => `${message} ${endpoint}`}
      rowLink={pathOfDelivery}
      polls
      {...(endpointId === null ? {} : { fixed: { endpoint_id: endpointId } })}
      columns={endpointId === null ? COLUMNS.toSpliced(2, 0, ENDPOINT_COLUMN) : COLUMNS}
      filters={[
        { name: 'state', label: 'State', options: DELIVERY_STATES },
        { name: 'type', label: 'Event', options: TYPE_OPTIONS },
        { name: 'since', label: 'From', type: 'date' },
        { name: 'until', label: 'Before', type: 'date' },
      ]}
      ready={[
        { label: 'Failed', query: { state: 'failed' } },
        { label: 'Retrying', query: { state: 'retrying' } },
      ]}
      empty={{
        title: 'No delivery in the last 30 days',
        text: 'A message appears with the next event that an endpoint subscribes to.',
      }}
    />
  );
}

function LastResult(delivery: WebhookDeliveryItem) {
  const { last_error: error, last_status: status, last_duration_ms: ms } = delivery;
  if (delivery.last_attempt_at === null) return <span class="dim">not sent yet</span>;
  const text = error ?? `answered ${status}`;
  return (
    <span class="break">
      {text} {ms !== null && <span class="dim">after {ms} ms</span>}
    </span>
  );
}
