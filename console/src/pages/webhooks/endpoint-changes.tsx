import type { WebhookEndpointItem, WebhookTest } from '@latchkey/contract';
import {
  disableWebhookEndpoint,
  enableWebhookEndpoint,
  removeWebhookEndpoint,
  rollWebhookSecret,
  testWebhookEndpoint,
  updateWebhookEndpoint,
} from '@latchkey/contract/admin/webhooks';
import { useState } from 'preact/hooks';

import { navigate } from '#console/app/router.ts';
import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Field } from '#console/ui/field.tsx';
import type { FormValues } from '#console/ui/form.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';

import { EventFields, readEvents } from './event-fields.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { WEBHOOK_RESOURCES } from './webhook-labels.ts';

interface EndpointChangesProps {
  readonly endpoint: WebhookEndpointItem;
}

/** The actions of an endpoint. */
export function EndpointChanges({ endpoint }: EndpointChangesProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const common = {
    params: { id: endpoint.id },
    reason: 'required',
    version: endpoint.version,
    invalidates: WEBHOOK_RESOURCES,
  } as const;
  return (
    <>
      <SendTest id={endpoint.id} />
      <OperationAction
        of={updateWebhookEndpoint}
        {...common}
        label="Edit"
        title="Edit endpoint"
        confirm="Save"
        body={toSettings}
        done="The endpoint was changed."
      >
        <Field
          label="Description"
          name="description"
          maxLength={500}
          value={endpoint.description ?? ''}
        />
        <EventFields selected={endpoint.events} />
      </OperationAction>
      <PauseOrResume endpoint={endpoint} />
      <OperationAction
        of={rollWebhookSecret}
        {...common}
        label="Rotate secret"
        explanation="The new secret is shown once. For the overlap, messages are signed with both."
        confirm="Rotate"
        body={({ overlap = '24' }) => ({ overlap_seconds: Math.round(Number(overlap) * 3_600) })}
        done="The secret was replaced."
        onDone={(rolled) => setSecret(rolled.secret)}
      >
        <Field
          label="Overlap in hours"
          name="overlap"
          type="number"
          min={0}
          max={720}
          step="any"
          value="24"
          required
        />
      </OperationAction>
      <OperationAction
        of={removeWebhookEndpoint}
        {...common}
        label="Remove"
        title="Remove endpoint"
        explanation="Deletes the endpoint and its secret. Its deliveries stay listed for 30 days."
        kind="danger"
        done="The endpoint was removed."
        onDone={() => navigate('/webhooks')}
      />
      {secret !== null && <SecretDialog secret={secret} onClose={() => setSecret(null)} />}
    </>
  );
}

function SendTest({ id }: { readonly id: string }) {
  const [test, setTest] = useState<WebhookTest | null>(null);
  return (
    <>
      <OperationAction
        of={testWebhookEndpoint}
        params={{ id }}
        label="Send test"
        explanation="Sends a signed message of the type endpoint.test once, even while it is paused."
        confirm="Send"
        invalidates={WEBHOOK_RESOURCES}
        done="The test was sent."
        onDone={setTest}
      />
      {test !== null && <TestDialog test={test} onClose={() => setTest(null)} />}
    </>
  );
}

function toSettings(values: FormValues): object {
  const text = (values['description'] ?? '').trim();
  return { description: text === '' ? null : text, events: readEvents(values) };
}

function PauseOrResume({ endpoint }: EndpointChangesProps) {
  const isPaused = endpoint.state === 'disabled';
  return (
    <OperationAction
      of={isPaused ? enableWebhookEndpoint : disableWebhookEndpoint}
      params={{ id: endpoint.id }}
      label={isPaused ? 'Resume' : 'Pause'}
      explanation={
        isPaused
          ? 'Pending messages are delivered, and later events are recorded again.'
          : 'Pending messages wait until it is resumed. Later events are not recorded for it.'
      }
      kind={isPaused ? 'primary' : 'plain'}
      reason="required"
      version={endpoint.version}
      invalidates={WEBHOOK_RESOURCES}
      done={isPaused ? 'The endpoint is resumed.' : 'The endpoint is paused.'}
    />
  );
}

interface TestDialogProps {
  readonly test: WebhookTest;
  readonly onClose: () => void;
}

function TestDialog({ test, onClose }: TestDialogProps) {
  const { delivered, status, duration_ms: ms, error, answer } = test;
  return (
    <Dialog title="Test" onClose={onClose}>
      <Notice kind={delivered ? 'good' : 'error'}>
        {delivered
          ? `The endpoint accepted the message: ${status} after ${ms} ms.`
          : `The endpoint did not accept the message: ${error} after ${ms} ms.`}
      </Notice>
      {answer !== null && (
        <>
          <h3>Answer</h3>
          <pre class="json" tabIndex={0}>
            {answer}
          </pre>
        </>
      )}
      <div class="buttons">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
