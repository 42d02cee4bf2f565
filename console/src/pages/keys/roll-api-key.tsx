import type { ApiKey, IssuedApiKey } from '@latchkey/contract';
import { apiKeys, rollApiKey } from '@latchkey/contract/admin/keys';

import { pathOf } from '#console/app/call.ts';
import { Field } from '#console/ui/field.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';

const OVERLAPS = [
  { value: '0', label: 'not at all: it leaked' },
  { value: '1800', label: '30 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
  { value: '7776000', label: '90 days' },
];

interface RollApiKeyProps {
  readonly apiKey: ApiKey;
  readonly onRolled: (issued: IssuedApiKey) => void;
}

/** A button that replaces a key by a new one of the same name. */
export function RollApiKey({ apiKey, onRolled }: RollApiKeyProps) {
  return (
    <OperationAction
      of={rollApiKey}
      params={{ id: apiKey.id }}
      label="Replace"
      title={`Replace “${apiKey.name}”`}
      explanation="Creates a new key with the same name, scopes and term. It is shown once."
      reason="optional"
      body={({ overlap = '86400' }) => ({ overlap_seconds: Number(overlap) })}
      invalidates={[pathOf(apiKeys.list)]}
      done="The key was replaced."
      onDone={onRolled}
    >
      <Field
        label="The old key stays valid"
        name="overlap"
        type="select"
        required
        value="86400"
        options={OVERLAPS}
      />
    </OperationAction>
  );
}
