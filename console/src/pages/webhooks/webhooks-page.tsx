import { addWebhookEndpoint, webhookEndpoints } from '@latchkey/contract/admin/webhooks';
import { useState } from 'preact/hooks';

import { pathOf } from '#console/app/call.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Field } from '#console/ui/field.tsx';
import type { FormValues } from '#console/ui/form.tsx';
import { toOptions } from '#console/ui/labels.ts';
import { ListTable } from '#console/ui/list-table.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Page } from '#console/ui/page.tsx';
import { selectedTab, Tabs } from '#console/ui/tabs.tsx';

import { DeliveryTable } from './delivery-table.tsx';
import { EventFields, readEvents } from './event-fields.tsx';
import { ReplayFailed } from './replay-failed.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { toneOfEndpoint, labelOfEndpoint } from './webhook-labels.ts';

const TABS = [
  { id: 'endpoints', label: 'Endpoints' },
  { id: 'deliveries', label: 'Deliveries' },
];

/** The receivers of outgoing webhooks, and what was sent to them. */
export function WebhooksPage() {
  const [secret, setSecret] = useState<string | null>(null);
  const tab = selectedTab(TABS);
  return (
    <Page
      title="Webhooks"
      intro="Events that this service sends to your other programs."
      actions={
        tab === 'endpoints' ? (
          <AddEndpoint onAdded={setSecret} />
        ) : (
          <ReplayFailed endpointId={null} />
        )
      }
    >
      <Tabs label="Webhooks" items={TABS} />
      {tab === 'endpoints' ? <Endpoints /> : <DeliveryTable endpointId={null} />}
      {secret !== null && <SecretDialog secret={secret} onClose={() => setSecret(null)} />}
    </Page>
  );
}

function Endpoints() {
  return (
    <ListTable
      of={webhookEndpoints}
      search="URL or description"
      polls
      rowKey={({ id }) => id}
      rowLink={({ id }) => `/webhooks/${id}`}
      filters={[
        { name: 'state', label: 'State', options: toOptions(['active', 'failing', 'disabled']) },
      ]}
      empty={{
        title: 'No endpoint yet',
        text: 'Add one to notify another program about licenses.',
      }}
      columns={[
        {
          key: 'url',
          label: 'Endpoint',
          grow: true,
          sort: 'ascending',
          cell: ({ url, description }) => (
            <span>
              <span class="break">{url}</span>
              {description && (
                <span class="dim second-line" dir="auto">
                  {description}
                </span>
              )}
            </span>
          ),
        },
        {
          key: 'state',
          label: 'State',
          cell: (each) => <Badge tone={toneOfEndpoint(each)}>{labelOfEndpoint(each)}</Badge>,
        },
        {
          key: 'events',
          label: 'Events',
          hideWhenNarrow: true,
          cell: ({ events }) => (events.length === 0 ? 'all' : describeTypes(events.length)),
        },
        { key: 'pending', label: 'Waiting', align: 'end', cell: (each) => each.pending },
        {
          key: 'failed',
          label: 'Failed',
          align: 'end',
          cell: ({ failed }) => (failed === 0 ? '0' : <strong>{failed}</strong>),
        },
      ]}
    />
  );
}

function AddEndpoint({ onAdded }: { readonly onAdded: (secret: string) => void }) {
  return (
    <OperationAction
      of={addWebhookEndpoint}
      label="Add endpoint"
      explanation="The signing secret is shown once, after the endpoint was added."
      confirm="Add"
      kind="primary"
      reason="required"
      body={toBody}
      invalidates={[pathOf(webhookEndpoints.list)]}
      done="The endpoint was added."
      onDone={({ secret }) => onAdded(secret)}
    >
      <Field
        label="URL"
        name="url"
        type="url"
        required
        autoFocus
        maxLength={2_000}
        placeholder="https://crm.example.com/hooks/latchkey"
      />
      <Field label="Description" name="description" maxLength={500} />
      <EventFields selected={[]} />
    </OperationAction>
  );
}

function toBody(values: FormValues): object {
  const { url = '', description = '' } = values;
  const text = description.trim();
  return { url: url.trim(), description: text === '' ? null : text, events: readEvents(values) };
}

function describeTypes(count: number): string {
  return count === 1 ? '1 type' : `${count} types`;
}
