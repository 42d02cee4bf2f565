import type { IssuedOperatorLink, Operator } from '@latchkey/contract';
import * as operators from '@latchkey/contract/admin/operators';
import { useState } from 'preact/hooks';

import { pathOf, useOperation } from '#console/app/call.ts';
import { operator as ownOperator } from '#console/app/session.ts';
import type { RouteProps } from '#console/app/match-path.ts';
import { Badge } from '#console/ui/badge.tsx';
import { CsvButton, exportOf } from '#console/ui/csv-button.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { Field } from '#console/ui/field.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { OperationPage } from '#console/ui/operation-page.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Time } from '#console/ui/time.tsx';

import { endOf, sessionColumns } from '../account/session-columns.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { ROLE_OPTIONS, toneOfState } from './operator-labels.ts';

const BACK = { to: '/operators', label: 'Operators' };

const CHANGED = [pathOf(operators.operators.list)];

interface AccountProps {
  readonly account: Operator;
}

/** One account: role, state, sessions. */
export function OperatorPage({ params }: RouteProps) {
  return (
    <OperationPage
      of={operators.showOperator}
      params={{ id: params['id'] ?? '' }}
      title="Operator"
      back={BACK}
    >
      {(account) => <OperatorView account={account} />}
    </OperationPage>
  );
}

function OperatorView({ account }: AccountProps) {
  const { state } = account;
  return (
    <Page
      title={account.name}
      back={BACK}
      status={<Badge tone={toneOfState(state)}>{state}</Badge>}
      {...(account.name === account.email ? {} : { intro: account.email })}
      actions={<Changes account={account} />}
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
      <Sessions operatorId={account.id} />
    </Page>
  );
}

function Changes({ account }: AccountProps) {
  const isOwn = ownOperator.value?.id === account.id;
  const common = {
    params: { id: account.id },
    version: account.version,
    invalidates: CHANGED,
  };
  return (
    <>
      <OperationAction
        {...common}
        of={operators.changeOperatorRole}
        label="Change role"
        explanation="Open sessions have the new role at once."
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
      </OperationAction>
      {!isOwn && account.state !== 'disabled' && <Reset account={account} />}
      {account.state === 'disabled' ? (
        <OperationAction
          {...common}
          of={operators.enableOperator}
          label="Enable"
          explanation="The operator signs in as before."
          kind="primary"
          reason="optional"
          done="The operator is enabled."
        />
      ) : (
        !isOwn && (
          <OperationAction
            {...common}
            of={operators.disableOperator}
            label="Disable"
            explanation={`${account.name} is signed out everywhere at once and cannot sign in.`}
            kind="danger"
            reason="required"
            done="The operator is disabled."
          />
        )
      )}
    </>
  );
}

function Reset({ account }: AccountProps) {
  const [link, setLink] = useState<IssuedOperatorLink | null>(null);
  const isInvited = account.state === 'invited';
  return (
    <>
      <OperationAction
        of={operators.resetOperator}
        params={{ id: account.id }}
        label={isInvited ? 'New link' : 'Reset'}
        title={isInvited ? 'Create a new link' : `Reset ${account.name}`}
        explanation={
          isInvited
            ? 'The previous link stops working.'
            : 'For a lost password or phone: removes the password and the second factors, ends every session, and creates a one-time link.'
        }
        confirm="Create link"
        kind={isInvited ? 'primary' : 'plain'}
        version={account.version}
        reason="optional"
        invalidates={CHANGED}
        done="The link was created."
        onDone={setLink}
      />
      {link && <LinkDialog link={link} onClose={() => setLink(null)} />}
    </>
  );
}

function Sessions({ operatorId }: { readonly operatorId: string }) {
  const ofOperator = { params: { id: operatorId } };
  const sessions = useOperation(operators.listSessionsOfOperator, ofOperator);
  const invalidates = [pathOf(operators.listSessionsOfOperator, ofOperator)];
  const others = (sessions.data?.items ?? []).filter((each) => !each.is_current);
  return (
    <Section
      title="Sessions"
      intro="The browsers in which this operator is signed in."
      actions={
        <>
          <CsvButton {...exportOf(operators.exportSessionsOfOperator, ofOperator)} />
          {others.length > 1 && (
            <OperationAction
              {...ofOperator}
              of={operators.revokeSessionsOfOperator}
              label="End all"
              title="End all sessions"
              explanation="Ends every session of this operator, except your own."
              kind="danger"
              invalidates={invalidates}
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
            columns={sessionColumns((each) => (
              <OperationAction
                of={operators.revokeSessionOfOperator}
                params={{ id: operatorId, session_id: each.id }}
                {...endOf(each)}
                invalidates={invalidates}
              />
            ))}
          />
        )}
      </Loaded>
    </Section>
  );
}
