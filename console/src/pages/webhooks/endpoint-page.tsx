import type { WebhookEndpointItem } from '@latchkey/contract';
import { showWebhookEndpoint } from '@latchkey/contract/admin/webhooks';

import type { RouteProps } from '#console/app/match-path.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { OperationPage } from '#console/ui/operation-page.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';

import { DeliveryTable } from './delivery-table.tsx';
import { EndpointChanges } from './endpoint-changes.tsx';
import { ReplayFailed } from './replay-failed.tsx';
import { nameEndpoint, toneOfEndpoint, labelOfEndpoint } from './webhook-labels.ts';

const BACK = { to: '/webhooks', label: 'Webhooks' };

/** One endpoint with its deliveries. */
export function EndpointPage({ params }: RouteProps) {
  const { id = '' } = params;
  return (
    <OperationPage of={showWebhookEndpoint} params={{ id }} polls title="Endpoint" back={BACK}>
      {(endpoint) => <EndpointView endpoint={endpoint} />}
    </OperationPage>
  );
}

function EndpointView({ endpoint }: { readonly endpoint: WebhookEndpointItem }) {
  return (
    <Page
      title={nameEndpoint(endpoint.url)}
      back={BACK}
      status={<Badge tone={toneOfEndpoint(endpoint)}>{labelOfEndpoint(endpoint)}</Badge>}
      {...(endpoint.description === null ? {} : { intro: endpoint.description })}
      actions={<EndpointChanges endpoint={endpoint} />}
    >
      <State endpoint={endpoint} />
      <Facts
        items={[
          ['URL', <code class="break">{endpoint.url}</code>],
          ['Events', endpoint.events.length === 0 ? 'all' : endpoint.events.join(', ')],
          ['Waiting', endpoint.pending],
          ['Failed', endpoint.failed],
          ['Added', <Time at={endpoint.created_at} />],
          [
            'Old secret valid until',
            endpoint.previous_secret_until === null ? undefined : (
              <Time at={endpoint.previous_secret_until} />
            ),
          ],
        ]}
      />
      <Section
        title="Deliveries"
        intro="Of the last 30 days."
        actions={endpoint.failed > 0 && <ReplayFailed endpointId={endpoint.id} />}
      >
        <DeliveryTable endpointId={endpoint.id} />
      </Section>
    </Page>
  );
}

function State({ endpoint }: { readonly endpoint: WebhookEndpointItem }) {
  const { state, disabled_reason: reason, failing_since: since } = endpoint;
  if (state === 'active') return null;
  if (state === 'failing') {
    return (
      <Notice kind="warning">
        Every delivery has failed since <Time at={since} />. Look at the last answers below and send
        a test after a repair. After five days the endpoint is paused.
      </Notice>
    );
  }
  if (reason === 'operator') {
    return (
      <Notice>
        An operator paused it. Pending messages wait; later events are not recorded for it.
      </Notice>
    );
  }
  return (
    <Notice kind="error">
      {reason === 'gone'
        ? 'It answered “410 Gone”, so it was paused.'
        : 'It failed for five days, so it was paused.'}{' '}
      Repair the receiver, send a test, then resume it. Pending messages are delivered then.
    </Notice>
  );
}
