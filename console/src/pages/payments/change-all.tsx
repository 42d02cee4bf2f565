import type { PaymentReplay } from '@latchkey/contract';
import { useState } from 'preact/hooks';

import { apiPost } from '#console/app/api.ts';
import { invalidate } from '#console/app/resources.ts';
import { query } from '#console/app/router.ts';
import { hasRole } from '#console/app/session.ts';
import { Action } from '#console/ui/action.tsx';
import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { Field } from '#console/ui/field.tsx';
import { Form, type FormValues } from '#console/ui/form.tsx';

import { PAYMENT_EVENTS } from './payment-labels.ts';

const SELECTING = ['provider', 'type', 'since', 'until'] as const;

/** Returns the filters of the list that select events, or null where they do not name a state with pending work. */
function readSelection(states: readonly string[]): Readonly<Record<string, string>> | null {
  const state = query.value.get('state') ?? '';
  const isOther = query.value.has('search') || query.value.has('license_id');
  if (!states.includes(state) || isOther) return null;
  const filters = SELECTING.map((name) => [name, query.value.get(name) ?? ''] as const);
  return { state, ...Object.fromEntries(filters.filter(([, value]) => value !== '')) };
}

/** A button that dismisses all listed events. */
export function DismissAll() {
  const selection = readSelection(['failed', 'deferred']);
  if (selection === null) return null;
  return (
    <Action<{ readonly dismissed: number }>
      label="Dismiss all"
      explanation="All events of this filter are neither retried nor counted any more. They stay stored."
      kind="danger"
      role="admin"
      reason="required"
      path={`${PAYMENT_EVENTS}/dismiss`}
      body={() => selection}
      invalidates={[PAYMENT_EVENTS]}
      done="The events are dismissed."
    />
  );
}

/** A button that replays all listed events, in parts, with its progress. */
export function ReplayAll() {
  const selection = readSelection(['failed', 'deferred', 'unmatched', 'ignored']);
  const [isOpen, setOpen] = useState(false);
  if (selection === null || !hasRole('admin')) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Replay all</Button>
      {isOpen && <ReplayDialog selection={selection} onClose={() => setOpen(false)} />}
    </>
  );
}

interface ReplayDialogProps {
  readonly selection: Readonly<Record<string, string>>;
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
        now = addPart(now, await apiPost<PaymentReplay>(`${PAYMENT_EVENTS}/replay`, body));
        setProgress(now);
      }
    } finally {
      invalidate(PAYMENT_EVENTS);
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
