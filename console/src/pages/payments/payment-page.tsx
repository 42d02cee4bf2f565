import type { PaymentEvent } from '@latchkey/contract';
import { dismissPaymentEvent, replayPaymentEvent } from '@latchkey/contract/admin/payment-changes';
import { showPaymentEvent } from '@latchkey/contract/admin/payments';

import { hrefOf } from '#console/app/router.ts';
import type { RouteProps } from '#console/app/match-path.ts';
import { Advice } from '#console/ui/advice.tsx';
import { Badge } from '#console/ui/badge.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { OperationPage } from '#console/ui/operation-page.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Status } from '#console/ui/status.tsx';
import { Time } from '#console/ui/time.tsx';
import { nameProvider } from '#console/ui/labels.ts';

import { AFFECTED, labelOfState, toneOfState } from './payment-labels.ts';
import { Payload } from './payload.tsx';

const BACK = { to: '/payments', label: 'Payments' };

interface EventProps {
  readonly event: PaymentEvent;
}

/** One payment event: what happened in one sentence, what to do, its licenses and its payload. */
export function PaymentPage({ params }: RouteProps) {
  const key = { provider: params['provider'] ?? '', event_id: params['event_id'] ?? '' };
  return (
    <OperationPage of={showPaymentEvent} params={key} title="Payment event" back={BACK}>
      {(event) => <EventView event={event} />}
    </OperationPage>
  );
}

function EventView({ event }: EventProps) {
  return (
    <Page
      title={event.type}
      back={BACK}
      status={<Badge tone={toneOfState(event.state)}>{labelOfState(event.state)}</Badge>}
      actions={<Changes event={event} />}
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
      <Payload event={event} />
    </Page>
  );
}

function Summary({ event }: EventProps) {
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

function Changes({ event }: EventProps) {
  const params = { provider: event.provider, event_id: event.event_id };
  const common = { params, reason: 'required', invalidates: AFFECTED } as const;
  const canDismiss = ['failed', 'deferred', 'unmatched'].includes(event.state);
  return (
    <>
      <OperationAction
        {...common}
        of={replayPaymentEvent}
        label="Replay"
        explanation="Applies the event again. An event that was applied before changes nothing."
        kind={canDismiss ? 'primary' : 'plain'}
        disabled={!event.has_payload}
        done="The event was replayed."
      />
      {canDismiss && (
        <OperationAction
          {...common}
          of={dismissPaymentEvent}
          label="Dismiss"
          explanation="The event is neither retried nor counted any more. It stays stored."
          kind="danger"
          done="The event is dismissed."
        />
      )}
    </>
  );
}

function Licenses({ event }: EventProps) {
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

function Effects({ event }: EventProps) {
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
