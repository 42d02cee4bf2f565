import type { PaymentReplay, PaymentReplayRequest } from '@latchkey/contract';
import {
  dismissPaymentEvents,
  replayPaymentEvents,
} from '@latchkey/contract/admin/payment-changes';
import { PAYMENT_SOURCES } from '@latchkey/contract/payment-providers';
import { useState } from 'preact/hooks';

import { call } from '#console/app/call.ts';
import { invalidate } from '#console/app/resources.ts';
import { query } from '#console/app/router.ts';
import { mayCall } from '#console/app/session.ts';
import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { Field } from '#console/ui/field.tsx';
import { Form, type FormValues } from '#console/ui/form.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';

import { AFFECTED } from './payment-labels.ts';

/** Returns the filters of the list that select events, or null where they do not name a state with pending work. */
function readSelection<const State extends string>(states: readonly State[]) {
  const filter = (name: string) => query.value.get(name) || undefined;
  const [state, provider] = [filter('state'), filter('provider')];
  const selected = states.find((each) => each === state);
  const source = PAYMENT_SOURCES.find((each) => each === provider);
  const isOther = query.value.has('search') || query.value.has('license_id');
  if (selected === undefined || source !== provider || isOther) return null;
  return {
    state: selected,
    provider: source,
    type: filter('type'),
    since: filter('since'),
    until: filter('until'),
  };
}

/** A button that dismisses all listed events. */
export function DismissAll() {
  const selection = readSelection(['failed', 'deferred']);
  if (selection === null) return null;
  return (
    <OperationAction
      of={dismissPaymentEvents}
      label="Dismiss all"
      explanation="All events of this filter are neither retried nor counted any more. They stay stored."
      kind="danger"
      reason="required"
      body={() => selection}
      invalidates={AFFECTED}
      done="The events are dismissed."
    />
  );
}

/** A button that replays all listed events, in parts, with its progress. */
export function ReplayAll() {
  const selection = readSelection(['failed', 'deferred', 'unmatched', 'ignored']);
  const [isOpen, setOpen] = useState(false);
  if (selection === null || !mayCall(replayPaymentEvents)) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Replay all</Button>
      {isOpen && <ReplayDialog selection={selection} onClose={() => setOpen(false)} />}
    </>
  );
}

interface ReplayDialogProps {
  readonly selection: Omit<PaymentReplayRequest, 'reason' | 'cursor'>;
  readonly onClose: () => void;
}

/** The outcomes so far. */
interface Progress {
  readonly replayed: number;
  readonly applied: number;
  /** Where the next part begins; null: at the first event, or nothing is left. */
  readonly cursor: string | null;
  readonly isDone: boolean;
}

const NOTHING: Progress = { replayed: 0, applied: 0, cursor: null, isDone: false };

function ReplayDialog({ selection, onClose }: ReplayDialogProps) {
  const [progress, setProgress] = useState<Progress | null>(null);

  async function send({ reason = '' }: FormValues): Promise<void> {
    // After a failure, the next attempt goes on from the last part.
    let now = progress ?? NOTHING;
    try {
      while (!now.isDone) {
        const { cursor } = now;
        const body = { ...selection, reason: reason.trim(), ...(cursor !== null && { cursor }) };
        now = addPart(now, await call(replayPaymentEvents, { body }));
        setProgress(now);
      }
    } finally {
      AFFECTED.forEach(invalidate);
    }
  }

  return (
    <Dialog title="Replay all" onClose={onClose}>
      {progress === null && (
        <p>
          Applies all events of this filter again, the oldest first. Applied events change nothing.
        </p>
      )}
      {progress !== null && (
        <p role="status">
          Replayed {progress.replayed}: {progress.applied} applied,{' '}
          {progress.replayed - progress.applied} not.{!progress.isDone && ' …'}
        </p>
      )}
      {progress?.isDone === true ? (
        <div class="buttons">
          <Button onClick={onClose}>Close</Button>
        </div>
      ) : (
        <Form
          onSubmit={send}
          submit="Replay all"
          buttons={<Button onClick={onClose}>Cancel</Button>}
        >
          <Field
            label="Reason"
            name="reason"
            required
            maxLength={500}
            hint="Recorded in the audit log."
          />
        </Form>
      )}
    </Dialog>
  );
}

function addPart(before: Progress, { outcomes, next_cursor: cursor }: PaymentReplay): Progress {
  const applied = outcomes.filter(({ state }) => state === 'applied').length;
  return {
    replayed: before.replayed + outcomes.length,
    applied: before.applied + applied,
    cursor,
    isDone: cursor === null,
  };
}
