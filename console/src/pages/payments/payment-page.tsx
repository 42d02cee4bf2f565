import type { PaymentEvent } from '@latchkey/contract';

import { hrefOf } from '#console/app/router.ts';
import type { RouteProps } from '#console/app/match-path.ts';
import { Action } from '#console/ui/action.tsx';
import { Advice } from '#console/ui/advice.tsx';
import { Badge } from '#console/ui/badge.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { ResourcePage } from '#console/ui/resource-page.tsx';
import { Status } from '#console/ui/status.tsx';
import { Time } from '#console/ui/time.tsx';
import { nameProvider } from '#console/ui/labels.ts';

import { PAYMENT_EVENTS, suffixOf, toneOfState, labelOfState } from './payment-labels.ts';
import { Payload } from './payload.tsx';

const BACK = { to: '/payments', label: 'Payments' };

interface EventProps {
  readonly event: PaymentEvent;
  readonly path: string;
}

/** One payment event: what happened in one sentence, what to do, its licenses and its payload. */
export function PaymentPage({ params }: RouteProps) {
  const key = { provider: params['provider'] ?? '', event_id: params['event_id'] ?? '' };
  const path = `${PAYMENT_EVENTS}${suffixOf(key)}`;
  return (
    <ResourcePage<PaymentEvent> path={path} title="Payment event" back={BACK}>
      {(event) => <EventView event={event} path={path} />}
    </ResourcePage>
  );
}

function EventView({ event, path }: EventProps) {
  return (
    <Page
      title={event.type}
      back={BACK}
      status={<Badge tone={toneOfState(event.state)}>{labelOfState(event.state)}</Badge>}
      actions={<Changes event={event} path={path} />}
    >
      <Summary event={event} />
      <Facts
        items={[
          ['Provider', nameProvider(event.provider)],
          [
            'Event',
            <>
              <code class="break">{event.event_id}</code>{' '}
              <CopyButton text={event.event_id} label="Copy event id" />
            </>,
          ],
          ['Occurred', <Time at={event.occurred_at} />],
          ['Received', <Time at={event.received_at} />],
          ['Attempts', event.attempts],
          [
            'Next attempt',
            event.next_attempt_at === null ? undefined : <Time at={event.next_attempt_at} />,
          ],
        ]}
      />
      <Licenses event={event} />
      <Effects event={event} />
      <Payload event={event} path={path} />
    </Page>
  );
}

function Summary({ event }: { readonly event: PaymentEvent }) {
  const isBad = event.state === 'failed' || (event.state === 'unmatched' && event.advice !== null);
  const kind = isBad ? 'error' : event.state === 'deferred' ? 'warning' : 'info';
  return (
    <Notice kind={kind}>
      <div>
        <p dir="auto">
          <strong class="break">{event.summary}</strong>
        </p>
        {event.advice && <Advice text={event.advice} role="admin" />}
      </div>
    </Notice>
  );
}

function Changes({ event, path }: EventProps) {
  const common = { role: 'admin', reason: 'required', invalidates: [PAYMENT_EVENTS] } as const;
  const canDismiss = ['failed', 'deferred', 'unmatched'].includes(event.state);
  return (
    <>
      <Action
        {...common}
        label="Replay"
        explanation="Applies the event again. An event that was applied before changes nothing."
        kind={canDismiss ? 'primary' : 'plain'}
        disabled={!event.has_payload}
        path={`${path}/replay`}
        done="The event was replayed."
      />
      {canDismiss && (
        <Action
          {...common}
          label="Dismiss"
          explanation="The event is neither retried nor counted any more. It stays stored."
          kind="danger"
          path={`${path}/dismiss`}
          done="The event is dismissed."
        />
      )}
    </>
  );
}

function Licenses({ event }: { readonly event: PaymentEvent }) {
  if (event.licenses.length === 0) {
    return <Section title="Licenses" intro="No license of this purchase is known." />;
  }
  return (
    <Section title="Licenses" intro="Of the purchase that the event belongs to.">
      <PlainTable<PaymentEvent['licenses'][number]>
        caption="Licenses"
        rows={event.licenses}
        rowKey={({ license_id: id }) => id}
        columns={[
          {
            key: 'license',
            label: 'License',
            cell: (each) => (
              <a href={hrefOf(`/licenses/${each.license_id}`)}>
                {each.product} …{each.key_hint}
              </a>
            ),
          },
          {
            key: 'status',
            label: 'Status',
            cell: ({ status }) => <Status of={status} />,
          },
          {
            key: 'customer',
            label: 'Customer',
            grow: true,
            cell: (each) => each.customer_email ?? <span class="dim">–</span>,
          },
        ]}
      />
    </Section>
  );
}

function Effects({ event }: { readonly event: PaymentEvent }) {
  if (event.effects.length === 0) return null;
  return (
    <Section title="What it reports">
      <PlainTable<PaymentEvent['effects'][number]>
        caption="Facts of the event"
        rows={event.effects}
        rowKey={({ kind, id, text }) => `${kind} ${id} ${text}`}
        columns={[
          { key: 'text', label: 'Fact', grow: true, cell: (each) => each.text },
          {
            key: 'id',
            label: 'Id',
            cell: ({ id }) => (
              <a href={hrefOf(`/payments?search=${encodeURIComponent(id)}`)}>
                <code class="break">{id}</code>
              </a>
            ),
          },
        ]}
      />
    </Section>
  );
}
