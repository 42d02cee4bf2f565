import { serviceNowMs } from '#console/app/service-clock.ts';
import { Action } from '#console/ui/action.tsx';
import { Field } from '#console/ui/field.tsx';

import { DELIVERIES, WEBHOOK_RESOURCES } from './webhook-labels.ts';

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
    <Action
      label="Replay failed"
      explanation="Delivers every message again that exhausted its retries. A message keeps its id, so that the receiver recognizes a duplicate."
      confirm="Replay"
      role="admin"
      path={`${DELIVERIES}/replay`}
      reason="required"
      body={({ since = month }) => ({
        since,
        ...(endpointId === null ? {} : { endpoint_id: endpointId }),
      })}
      invalidates={WEBHOOK_RESOURCES}
      done="The deliveries are queued."
    >
      <Field label="Events since" name="since" type="date" value={month} required />
    </Action>
  );
}
