import type { IssuedApiKey } from '@latchkey/contract';
import { apiKeys, createApiKey } from '@latchkey/contract/admin/keys';

import { pathOf } from '#console/app/call.ts';
import { Field } from '#console/ui/field.tsx';
import type { FormValues } from '#console/ui/form.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';

import { SCOPES } from './scopes.ts';

interface CreateApiKeyProps {
  readonly onCreated: (issued: IssuedApiKey) => void;
}

/** A button that creates a key. */
export function CreateApiKey({ onCreated }: CreateApiKeyProps) {
  return (
    <OperationAction
      of={createApiKey}
      label="Create API key"
      explanation="The key is shown once, after it was created."
      confirm="Create"
      kind="primary"
      reason="optional"
      body={toBody}
      invalidates={[pathOf(apiKeys.list)]}
      done="The key was created."
      onDone={onCreated}
    >
      <Field
        label="Name"
        name="name"
        required
        autoFocus
        maxLength={64}
        hint="What it is for, such as “newsletter form”."
      />
      <fieldset>
        <legend>Scopes</legend>
        {SCOPES.map(({ value, label }) => (
          <Field key={value} type="checkbox" name={`scope ${value}`} label={`${value}: ${label}`} />
        ))}
      </fieldset>
      <Field
        label="Expires"
        name="expires_at"
        type="date"
        hint="At the start of that day in UTC. Empty: never."
      />
    </OperationAction>
  );
}

function toBody({ name = '', expires_at: day = '', ...checked }: FormValues): object {
  const scopes = SCOPES.map(({ value }) => value).filter(
    (scope) => checked[`scope ${scope}`] === 'on',
  );
  const expiry = day === '' ? {} : { expires_at: `${day}T00:00:00Z` };
  return { name: name.trim(), scopes, ...expiry };
}
