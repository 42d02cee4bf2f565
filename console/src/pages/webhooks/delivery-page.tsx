import type { WebhookDelivery } from '@latchkey/contract';
import {
  replayWebhookDelivery,
  showWebhookDelivery,
} from '@latchkey/contract/admin/webhook-deliveries';

import { hrefOf } from '#console/app/router.ts';
import { hasRole } from '#console/app/session.ts';
import type { RouteProps } from '#console/app/match-path.ts';
import { Badge } from '#console/ui/badge.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { OperationPage } from '#console/ui/operation-page.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';
import { Timeline, type TimelineItem } from '#console/ui/timeline.tsx';

import { nameEndpoint, toneOfDelivery, WEBHOOK_RESOURCES } from './webhook-labels.ts';

/** One delivery: its payload and every attempt. */
export function DeliveryPage({ params }: RouteProps) {
  const { endpoint_id = '', message_id = '' } = params;
  return (
    <OperationPage
      of={showWebhookDelivery}
      params={{ message_id, endpoint_id }}
      polls
      title="Delivery"
      back={{ to: `/webhooks/${endpoint_id}`, label: 'Endpoint' }}
    >
      {(delivery) => <DeliveryView delivery={delivery} />}
    </OperationPage>
  );
}

function DeliveryView({ delivery }: { readonly delivery: WebhookDelivery }) {
  const { message_id, endpoint_id, endpoint_url: url } = delivery;
  return (
    <Page
      title={delivery.type}
      back={{
        to: `/webhooks/${endpoint_id}`,
        label: url === null ? 'Endpoint' : nameEndpoint(url),
      }}
      status={<Badge tone={toneOfDelivery(delivery.state)}>{delivery.state}</Badge>}
      actions={
        <OperationAction
          of={replayWebhookDelivery}
          params={{ message_id, endpoint_id }}
          label="Replay"
          explanation="Delivers the message again. It keeps its id, so that the receiver recognizes a duplicate."
          kind={delivery.state === 'failed' ? 'primary' : 'plain'}
          reason="required"
          invalidates={WEBHOOK_RESOURCES}
          done="The delivery is queued."
        />
      }
    >
      <FactsOf delivery={delivery} />
      <Section
        title="Attempts"
        intro={
          hasRole('admin')
            ? 'With the beginning of each answer.'
            : 'Only admins see what the endpoint answered.'
        }
      >
        <Attempts delivery={delivery} />
      </Section>
      <Section
        title="Payload"
        actions={<CopyButton text={delivery.payload} label="Copy payload" />}
      >
        <pre class="json" tabIndex={0}>
          {formatJson(delivery.payload)}
        </pre>
      </Section>
    </Page>
  );
}

function FactsOf({ delivery }: { readonly delivery: WebhookDelivery }) {
  const { license_id: license, next_attempt_at: next } = delivery;
  return (
    <Facts
      items={[
        ['Endpoint', delivery.endpoint_url ?? 'removed'],
        ['Message', <code class="break">{delivery.message_id}</code>],
        ['License', <a href={hrefOf(`/licenses/${license}`)}>{license}</a>],
        ['Created', <Time at={delivery.created_at} />],
        ['Attempts', delivery.attempts],
        ['Next attempt', next === null ? undefined : <Time at={next} />],
      ]}
    />
  );
}

function Attempts({ delivery }: { readonly delivery: WebhookDelivery }) {
  if (delivery.history.length === 0) {
    return <Empty title="Not sent yet">The service sends it within seconds.</Empty>;
  }
  return <Timeline items={delivery.history.map(toItem)} />;
}

function toItem(attempt: WebhookDelivery['history'][number]): TimelineItem {
  const { attempted_at: at, status, duration_ms: ms, error, answer } = attempt;
  const item: TimelineItem = {
    id: at,
    at,
    tone: error === null ? 'good' : 'bad',
    title: error ?? `accepted: ${status}`,
    detail: `after ${ms} ms`,
  };
  if (answer === null) return item;
  const more = (
    <pre class="json" tabIndex={0}>
      {answer}
    </pre>
  );
  return { ...item, more };
}

function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Shown as it is sent.
    return text;
  }
}
