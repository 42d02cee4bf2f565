import type { ApiKey, IssuedApiKey } from '@latchkey/contract';
import { apiKeys, revokeApiKey } from '@latchkey/contract/admin/keys';
import { useState } from 'preact/hooks';

import { pathOf } from '#console/app/call.ts';
import { Badge, type Tone } from '#console/ui/badge.tsx';
import { Button } from '#console/ui/button.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { ListTable } from '#console/ui/list-table.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Page } from '#console/ui/page.tsx';
import { SecretOnce } from '#console/ui/revealed-secret.tsx';
import { Time } from '#console/ui/time.tsx';
import { sentenceCase } from '#console/ui/labels.ts';

import { CreateApiKey } from './create-api-key.tsx';
import { RollApiKey } from './roll-api-key.tsx';
import { SCOPES } from './scopes.ts';

/** The label and the tone of each state. */
const STATES: Readonly<Record<ApiKey['state'], readonly [label: string, tone: Tone]>> = {
  active: ['active', 'good'],
  rolled: ['replaced', 'warning'],
  expired: ['expired', 'muted'],
  revoked: ['revoked', 'muted'],
};

/** The API keys of programs. */
export function ApiKeysPage() {
  const [issued, setIssued] = useState<IssuedApiKey | null>(null);
  return (
    <Page
      title="API keys"
      intro="Keys with which your programs call the service. A key is shown once, when it is created."
      actions={<CreateApiKey onCreated={setIssued} />}
    >
      <ListTable
        of={apiKeys}
        search="Name"
        rowKey={({ id }) => id}
        columns={columnsWith(setIssued)}
        filters={[
          {
            name: 'state',
            label: 'State',
            options: Object.entries(STATES).map(([value, [label]]) => ({
              value,
              label: sentenceCase(label),
            })),
          },
          {
            name: 'scope',
            label: 'Scope',
            options: SCOPES.map(({ value }) => ({ value, label: value })),
          },
        ]}
        empty={{
          title: 'No API keys',
          text: 'A program that sends outreach, reads metrics or uses the operator interface needs one.',
        }}
      />
      {issued && <IssuedDialog issued={issued} onClose={() => setIssued(null)} />}
    </Page>
  );
}

function columnsWith(onIssued: (issued: IssuedApiKey) => void): Column<ApiKey>[] {
  return [
    {
      key: 'name',
      label: 'Name',
      sort: 'ascending',
      grow: true,
      cell: (each) => (
        <>
          {each.name} <code class="dim">…{each.key_hint}</code>
        </>
      ),
    },
    { key: 'scopes', label: 'Scopes', cell: (each) => <Scopes names={each.scopes} /> },
    {
      key: 'state',
      label: 'State',
      cell: ({ state }) => <Badge tone={STATES[state][1]}>{STATES[state][0]}</Badge>,
    },
    {
      key: 'last_used_at',
      label: 'Last used',
      sort: 'descending',
      cell: (each) => <Time at={each.last_used_at} as="relative" />,
    },
    {
      key: 'expires_at',
      label: 'Expires',
      sort: 'ascending',
      cell: (each) => <Time at={each.expires_at} as="date" />,
    },
    {
      key: 'created_at',
      label: 'Created',
      sort: 'descending',
      hideWhenNarrow: true,
      cell: (each) => <Time at={each.created_at} as="date" />,
    },
    {
      key: 'actions',
      label: '',
      align: 'end',
      cell: (each) => <KeyActions apiKey={each} onIssued={onIssued} />,
    },
  ];
}

interface IssuedDialogProps {
  readonly issued: IssuedApiKey;
  readonly onClose: () => void;
}

/** A new key, which is shown once. */
function IssuedDialog({ issued, onClose }: IssuedDialogProps) {
  return (
    <Dialog title={`API key “${issued.key.name}”`} onClose={onClose}>
      <SecretOnce name="API key" text={issued.api_key} />
      <p>
        Programs send it in the header <code>X-API-Key</code>.
      </p>
      <div class="buttons">
        <Button kind="primary" onClick={onClose}>
          I stored it
        </Button>
      </div>
    </Dialog>
  );
}

function Scopes({ names }: { readonly names: readonly string[] }) {
  return (
    <>
      {names.map((name) => (
        <div key={name} style={{ whiteSpace: 'nowrap' }}>
          {name}
        </div>
      ))}
    </>
  );
}

interface KeyActionsProps {
  readonly apiKey: ApiKey;
  readonly onIssued: (issued: IssuedApiKey) => void;
}

function KeyActions({ apiKey, onIssued }: KeyActionsProps) {
  if (apiKey.state === 'revoked') return null;
  return (
    <span class="buttons" style={{ flexWrap: 'nowrap' }}>
      {apiKey.replaced_by === null && <RollApiKey apiKey={apiKey} onRolled={onIssued} />}
      {apiKey.state !== 'expired' && (
        <OperationAction
          of={revokeApiKey}
          params={{ id: apiKey.id }}
          label="Revoke"
          title={`Revoke “${apiKey.name}”`}
          explanation="Programs that use it are refused at once. This cannot be undone."
          kind="danger"
          reason="required"
          invalidates={[pathOf(apiKeys.list)]}
          done="The key is revoked."
        />
      )}
    </span>
  );
}
