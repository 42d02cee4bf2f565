import type { SigningKeyState } from '@latchkey/contract';
import { revokeSigningKey, rotateSigningKey, signingKeys } from '@latchkey/contract/admin/keys';

import { pathOf, useOperation } from '#console/app/call.ts';
import { Badge, type Tone } from '#console/ui/badge.tsx';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import { Field } from '#console/ui/field.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Page } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Time } from '#console/ui/time.tsx';

const TONES: Readonly<Record<SigningKeyState, Tone>> = {
  signing: 'good',
  published: 'info',
  retired: 'muted',
  revoked: 'muted',
  rejected: 'bad',
};

/** What each state means. */
const MEANINGS: Readonly<Record<SigningKeyState, string>> = {
  signing: 'signs every new token',
  published: 'clients fetch it now; it signs soon',
  retired: 'verifies tokens that it signed before',
  revoked: 'its tokens are refused',
  rejected: 'not used: the master secret does not authenticate its row',
};

/** The keys that sign entitlements. */
export function SigningKeysPage() {
  const keys = useOperation(signingKeys.list, {});
  return (
    <Page
      title="Signing keys"
      intro="The keys that sign the tokens with which your software proves a license offline."
      actions={
        <>
          <CsvButton {...exportOf(signingKeys.export, {})} />
          <Rotate />
        </>
      }
    >
      <Loaded resource={keys}>
        {({ items }) => (
          <PlainTable
            caption="Signing keys"
            rows={items.toReversed()}
            rowKey={({ kid }) => kid}
            columns={[
              {
                key: 'state',
                label: 'State',
                grow: true,
                cell: ({ state }) => (
                  <>
                    <Badge tone={TONES[state]}>{state}</Badge>{' '}
                    <span class="dim">{MEANINGS[state]}</span>
                  </>
                ),
              },
              {
                key: 'kid',
                label: 'Key',
                cell: ({ kid }) => <code title={kid}>{kid.slice(0, 12)}…</code>,
              },
              {
                key: 'active_from',
                label: 'Signs from',
                cell: (each) => <Time at={each.active_from} />,
              },
              {
                key: 'retired_at',
                label: 'Until',
                cell: ({ state, retired_at: end }) =>
                  state === 'revoked' ? <span class="dim">–</span> : <Time at={end} never="–" />,
              },
              {
                key: 'actions',
                label: '',
                align: 'end',
                cell: ({ kid, state }) => state === 'retired' && <Revoke kid={kid} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}

function Rotate() {
  return (
    <OperationAction
      of={rotateSigningKey}
      label="Rotate"
      title="Create a new signing key"
      explanation="It signs in 5 minutes, after every client could fetch it. Older keys keep verifying their tokens."
      confirm="Create key"
      kind="primary"
      reason="required"
      body={({ immediately }) => ({ immediately: immediately === 'on' })}
      invalidates={[pathOf(signingKeys.list)]}
      done="The new key was created."
    >
      <Field
        label="Sign with it at once"
        name="immediately"
        type="checkbox"
        hint="Only if the present key leaked: clients with an old key set refuse new tokens for up to 5 minutes."
      />
    </OperationAction>
  );
}

function Revoke({ kid }: { readonly kid: string }) {
  return (
    <OperationAction
      of={revokeSigningKey}
      params={{ kid }}
      label="Revoke"
      title="Revoke this key"
      explanation="Only if it leaked: every token that it signed is refused, until the software fetches a new one."
      kind="danger"
      reason="required"
      invalidates={[pathOf(signingKeys.list)]}
      done="The key is revoked."
    />
  );
}
