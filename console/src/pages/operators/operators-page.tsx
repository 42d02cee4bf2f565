import type { IssuedOperatorLink, Operator } from '@latchkey/contract';
import { createOperator, operators } from '@latchkey/contract/admin/operators';
import { useState } from 'preact/hooks';

import { pathOf } from '#console/app/call.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Field } from '#console/ui/field.tsx';
import { ListTable } from '#console/ui/list-table.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Page } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';
import { toOptions } from '#console/ui/labels.ts';

import { LinkDialog } from './link-dialog.tsx';
import { ROLE_OPTIONS, STATES, toneOfState } from './operator-labels.ts';

/** The accounts of the console. */
export function OperatorsPage() {
  return (
    <Page
      title="Operators"
      intro="The people who may sign in to this console, and what they may do."
      actions={<InviteOperator />}
    >
      <ListTable
        of={operators}
        search="Name or e-mail address"
        rowKey={({ id }) => id}
        rowLink={({ id }) => `/operators/${id}`}
        columns={[
          {
            key: 'email',
            label: 'E-mail',
            sort: 'ascending',
            grow: true,
            cell: (each) => each.email,
          },
          { key: 'name', label: 'Name', sort: 'ascending', cell: (each) => nameOf(each) },
          { key: 'role', label: 'Role', sort: 'descending', cell: (each) => each.role },
          {
            key: 'state',
            label: 'State',
            cell: ({ state }) => <Badge tone={toneOfState(state)}>{state}</Badge>,
          },
          {
            key: 'totp',
            label: 'Two-step',
            hideWhenNarrow: true,
            cell: (each) => (each.totp_enabled ? 'on' : <span class="dim">off</span>),
          },
          {
            key: 'last_sign_in_at',
            label: 'Last sign-in',
            sort: 'descending',
            cell: (each) => <Time at={each.last_sign_in_at} as="relative" />,
          },
        ]}
        filters={[
          {
            name: 'role',
            label: 'Role',
            options: toOptions(ROLE_OPTIONS.map(({ value }) => value)),
          },
          {
            name: 'state',
            label: 'State',
            options: toOptions(STATES),
          },
        ]}
        empty={{ title: 'No operators' }}
      />
    </Page>
  );
}

/** The name, unless it only repeats the address. */
function nameOf({ name, email }: Operator) {
  return name === email ? <span class="dim">–</span> : name;
}

function InviteOperator() {
  const [link, setLink] = useState<IssuedOperatorLink | null>(null);
  return (
    <>
      <OperationAction
        of={createOperator}
        label="Add operator"
        title="Add an operator"
        explanation="You get a one-time link, with which the operator sets a password."
        confirm="Create link"
        kind="primary"
        reason="optional"
        invalidates={[pathOf(operators.list)]}
        done="The operator was added."
        onDone={setLink}
      >
        <Field label="E-mail address" name="email" type="email" required autoFocus />
        <Field label="Name" name="name" maxLength={200} />
        <Field
          label="Role"
          name="role"
          type="select"
          required
          value="support"
          options={ROLE_OPTIONS}
        />
      </OperationAction>
      {link && <LinkDialog link={link} onClose={() => setLink(null)} />}
    </>
  );
}
