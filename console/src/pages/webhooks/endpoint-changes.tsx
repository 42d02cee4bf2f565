import type { WebhookEndpointItem, WebhookTest } from '@latchkey/contract';
import type { Static } from 'typebox';
import { useState } from 'preact/hooks';

import { navigate } from '#console/app/router.ts';
import { Action } from '#console/ui/action.tsx';
import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Field } from '#console/ui/field.tsx';
import type { FormValues } from '#console/ui/form.tsx';

import { EventFields, readEvents } from './event-fields.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { ENDPOINTS, WEBHOOK_RESOURCES } from './webhook-labels.ts';

type TestResult = Static<typeof WebhookTest>;

interface EndpointChangesProps {
  readonly endpoint: WebhookEndpointItem;
}

/** The actions of an endpoint. */
export function EndpointChanges({ endpoint }: EndpointChangesProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const path = `${ENDPOINTS}/${endpoint.id}`;
  const common = {
    role: 'admin',
    reason: 'required',
    version: endpoint.version,
    invalidates: WEBHOOK_RESOURCES,
  } as const;
  return (
    <>
      <SendTest path={path} />
      <Action
        {...common}
        label="Edit"
        title="Edit endpoint"
        confirm="Save"
        path={`${path}/update`}
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
      </Action>
      <PauseOrResume endpoint={endpoint} path={path} />
      <Action<{ readonly secret: string }>
        {...common}
        label="Rotate secret"
        explanation="The new secret is shown once. For the overlap, messages are signed with both."
        confirm="Rotate"
        path={`${path}/roll`}
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
      </Action>
      <Action
        {...common}
        label="Remove"
        title="Remove endpoint"
        explanation="Deletes the endpoint and its secret. Its deliveries stay listed for 30 days."
        kind="danger"
        path={`${path}/remove`}
        done="The endpoint was removed."
        onDone={() => navigate('/webhooks')}
      />
      {secret !== null && <SecretDialog secret={secret} onClose={() => setSecret(null)} />}
    </>
  );
}

function SendTest({ path }: { readonly path: string }) {
  const [test, setTest] = useState<TestResult | null>(null);
  return (
    <>
      <Action<TestResult>
        label="Send test"
        explanation="Sends a signed message of the type endpoint.test once, even while it is paused."
        confirm="Send"
        role="admin"
        path={`${path}/test`}
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

function PauseOrResume({ endpoint, path }: EndpointChangesProps & { readonly path: string }) {
  const isPaused = endpoint.state === 'disabled';
  return (
    <Action
      label={isPaused ? 'Resume' : 'Pause'}
      explanation={
        isPaused
          ? 'Pending messages are delivered, and later events are recorded again.'
          : 'Pending messages wait until it is resumed. Later events are not recorded for it.'
      }
      kind={isPaused ? 'primary' : 'plain'}
      role="admin"
      reason="required"
      version={endpoint.version}
      path={`${path}/${isPaused ? 'enable' : 'disable'}`}
      invalidates={WEBHOOK_RESOURCES}
      done={isPaused ? 'The endpoint is resumed.' : 'The endpoint is paused.'}
    />
  );
}

interface TestDialogProps {
  readonly test: TestResult;
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
