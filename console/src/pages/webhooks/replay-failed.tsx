import { replayWebhookDeliveries } from '@latchkey/contract/admin/webhook-deliveries';

import { serviceNowMs } from '#console/app/service-clock.ts';
import { Field } from '#console/ui/field.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';

import { WEBHOOK_RESOURCES } from './webhook-labels.ts';

const DAY_MS = 86_400_000;

/** The service keeps deliveries for 30 days. */
const KEPT_DAYS = 30;

interface ReplayFailedProps {
  /** Null: to all endpoints. */
  readonly endpointId: string | null;
}

/** A button that delivers every message again that exhausted its retries. */
export function ReplayFailed({ endpointId }: ReplayFailedProps) {
  const month = new Date(serviceNowMs() - KEPT_DAYS * DAY_MS).toISOString().slice(0, 10);
  return (
    <OperationAction
      of={replayWebhookDeliveries}
      label="Replay failed"
      explanation="Delivers every message again that exhausted its retries. A message keeps its id, so that the receiver recognizes a duplicate."
      confirm="Replay"
      reason="required"
      body={({ since = month }) => ({
        since,
        ...(endpointId === null ? {} : { endpoint_id: endpointId }),
      })}
      invalidates={WEBHOOK_RESOURCES}
      done="The deliveries are queued."
    >
      <Field label="Events since" name="since" type="date" value={month} required />
    </OperationAction>
  );
}
