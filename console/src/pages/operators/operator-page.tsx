import type { IssuedOperatorLink, Operator, OperatorSessions } from '@latchkey/contract';
import { useState } from 'preact/hooks';

import { useResource } from '#console/app/resources.ts';
import { operator as ownOperator } from '#console/app/session.ts';
import type { RouteProps } from '#console/app/match-path.ts';
import { Action } from '#console/ui/action.tsx';
import { Badge } from '#console/ui/badge.tsx';
import { CsvButton } from '#console/ui/csv-button.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { Field } from '#console/ui/field.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { ResourcePage } from '#console/ui/resource-page.tsx';
import { Time } from '#console/ui/time.tsx';

import { sessionColumns } from '../account/session-columns.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { OPERATORS, ROLE_OPTIONS, toneOfState } from './operator-labels.ts';

const BACK = { to: '/operators', label: 'Operators' };

interface AccountProps {
  readonly account: Operator;
  readonly path: string;
}

/** One account: role, state, sessions. */
export function OperatorPage({ params }: RouteProps) {
  const path = `${OPERATORS}/${encodeURIComponent(params['id'] ?? '')}`;
  return (
    <ResourcePage<Operator> path={path} title="Operator" back={BACK}>
      {(account) => <OperatorView account={account} path={path} />}
    </ResourcePage>
  );
}

function OperatorView({ account, path }: AccountProps) {
  const { state } = account;
  return (
    <Page
      title={account.name}
      back={BACK}
      status={<Badge tone={toneOfState(state)}>{state}</Badge>}
      {...(account.name === account.email ? {} : { intro: account.email })}
      actions={<Changes account={account} path={path} />}
    >
      {state === 'invited' && (
        <Notice>
          This operator has not signed in yet. A one-time link is valid for 30 minutes: create
          another one with “New link”.
        </Notice>
      )}
      <Facts
        items={[
          ['Role', account.role],
          ['Two-step sign-in', account.totp_enabled ? 'on' : 'off'],
          ['Last sign-in', <Time at={account.last_sign_in_at} />],
          ['Created', <Time at={account.created_at} />],
          [
            'Disabled',
            account.disabled_at === null ? undefined : <Time at={account.disabled_at} />,
          ],
        ]}
      />
      <Sessions path={`${path}/sessions`} />
    </Page>
  );
}

function Changes({ account, path }: AccountProps) {
  const isOwn = ownOperator.value?.id === account.id;
  const common = { role: 'admin', version: account.version, invalidates: [OPERATORS] } as const;
  return (
    <>
      <Action
        {...common}
        label="Change role"
        explanation="Open sessions have the new role at once."
        path={`${path}/role`}
        reason="optional"
        done="The role was changed."
      >
        <Field
          label="Role"
          name="role"
          type="select"
          required
          value={account.role}
          options={ROLE_OPTIONS}
        />
      </Action>
      {!isOwn && account.state !== 'disabled' && (
        <Reset {...common} account={account} path={path} />
      )}
      {account.state === 'disabled' ? (
        <Action
          {...common}
          label="Enable"
          explanation="The operator signs in as before."
          kind="primary"
          path={`${path}/enable`}
          reason="optional"
          done="The operator is enabled."
        />
      ) : (
        !isOwn && (
          <Action
            {...common}
            label="Disable"
            explanation={`${account.name} is signed out everywhere at once and cannot sign in.`}
            kind="danger"
            path={`${path}/disable`}
            reason="required"
            done="The operator is disabled."
          />
        )
      )}
    </>
  );
}

function Reset({ account, path }: AccountProps) {
  const [link, setLink] = useState<IssuedOperatorLink | null>(null);
  const isInvited = account.state === 'invited';
  return (
    <>
      <Action<IssuedOperatorLink>
        label={isInvited ? 'New link' : 'Reset'}
        title={isInvited ? 'Create a new link' : `Reset ${account.name}`}
        explanation={
          isInvited
            ? 'The previous link stops working.'
            : 'For a lost password or phone: removes the password and the second factors, ends every session, and creates a one-time link.'
        }
        confirm="Create link"
        kind={isInvited ? 'primary' : 'plain'}
        role="admin"
        version={account.version}
        path={`${path}/reset`}
        reason="optional"
        invalidates={[OPERATORS]}
        done="The link was created."
        onDone={setLink}
      />
      {link && <LinkDialog link={link} onClose={() => setLink(null)} />}
    </>
  );
}

function Sessions({ path }: { readonly path: string }) {
  const sessions = useResource<OperatorSessions>(path);
  const others = (sessions.data?.items ?? []).filter((each) => !each.is_current);
  return (
    <Section
      title="Sessions"
      intro="The browsers in which this operator is signed in."
      actions={
        <>
          <CsvButton path={`${path}/export`} role="admin" fresh />
          {others.length > 1 && (
            <Action
              label="End all"
              title="End all sessions"
              explanation="Ends every session of this operator, except your own."
              kind="danger"
              role="admin"
              path={`${path}/revoke`}
              invalidates={[path]}
              done="The sessions ended."
            />
          )}
        </>
      }
    >
      <Loaded resource={sessions}>
        {({ items }) => (
          <PlainTable
            caption="Sessions"
            rows={items}
            rowKey={({ id }) => id}
            empty="Not signed in anywhere"
            columns={sessionColumns(path, 'admin')}
          />
        )}
      </Loaded>
    </Section>
  );
}
