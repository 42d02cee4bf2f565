import type { PaymentReconciliation } from '@latchkey/contract';
import { reconcilePayments } from '@latchkey/contract/admin/payment-changes';
import { useState } from 'preact/hooks';

import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Field } from '#console/ui/field.tsx';
import type { FormValues } from '#console/ui/form.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';

import { AFFECTED } from './payment-labels.ts';

/** A button that compares Paddle's event log with the received events. */
export function Reconcile() {
  const [result, setResult] = useState<PaymentReconciliation | null>(null);
  return (
    <>
      <OperationAction
        of={reconcilePayments}
        label="Find missed events"
        explanation="Compares Paddle’s event log and Gumroad’s sales with the received events and applies the missing ones. The service does this every hour."
        confirm="Compare"
        body={toBody}
        invalidates={AFFECTED}
        done="The comparison ended."
        onDone={setResult}
      >
        <Field
          label="Events since"
          name="since"
          type="date"
          hint="Empty: since the last comparison. Choose a day after a long outage."
        />
      </OperationAction>
      {result && <Result result={result} onClose={() => setResult(null)} />}
    </>
  );
}

function toBody({ since = '' }: FormValues): object {
  return since === '' ? {} : { since };
}

interface ResultProps {
  readonly result: PaymentReconciliation;
  readonly onClose: () => void;
}

function Result({ result, onClose }: ResultProps) {
  const { compared, repaired, failure, reached_end: reachedEnd } = result;
  return (
    <Dialog title="Comparison" onClose={onClose}>
      {failure === null ? (
        <p>
          Compared {compared} {compared === 1 ? 'event' : 'events'}.{' '}
          {describeRepaired(repaired.length)}
          {!reachedEnd && ' The log continues: compare again.'}
        </p>
      ) : (
        <Notice kind="error">{failure}</Notice>
      )}
      {repaired.length > 0 && (
        <ul>
          {repaired.slice(0, 20).map(({ event_id: id, type }) => (
            <li key={id}>
              <code>{type}</code> {id}
            </li>
          ))}
        </ul>
      )}
      <div class="buttons">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

function describeRepaired(count: number): string {
  if (count === 0) return 'None was missing.';
  return count === 1
    ? '1 was missing and is applied now.'
    : `${count} were missing and are applied now.`;
}
