import type { Passkey } from '@latchkey/contract';
import { listPasskeys, removePasskey } from '@latchkey/contract/admin/passkeys';
import { useState } from 'preact/hooks';

import { pathOf, useOperation } from '#console/app/call.ts';
import { loadSession } from '#console/app/session.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Button } from '#console/ui/button.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Section } from '#console/ui/page.tsx';
import { useSignInMethods } from '#console/ui/passkey-button.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Time } from '#console/ui/time.tsx';

import { PasskeyForm } from './passkey-form.tsx';

/** The passkeys of the operator, where the service allows them. */
export function PasskeysSection() {
  const methods = useSignInMethods();
  if (methods?.passkeys !== true) return null;
  return <List />;
}

function List() {
  const passkeys = useOperation(listPasskeys, {});
  return (
    <Section
      title="Passkeys"
      intro="Sign in with your fingerprint, face or PIN, or a security key, in place of password and code."
      actions={<AddPasskey />}
    >
      <Loaded resource={passkeys}>
        {({ items }) => (
          <PlainTable
            caption="Passkeys"
            rows={items}
            rowKey={({ id }) => id}
            columns={COLUMNS}
            empty="No passkeys yet"
          />
        )}
      </Loaded>
    </Section>
  );
}

const COLUMNS: Column<Passkey>[] = [
  {
    key: 'name',
    label: 'Name',
    grow: true,
    cell: (each) => (
      <>
        {each.name} {each.is_synced && <Badge tone="info">synced</Badge>}
      </>
    ),
  },
  { key: 'created_at', label: 'Added', cell: (each) => <Time at={each.created_at} as="date" /> },
  {
    key: 'last_used_at',
    label: 'Last used',
    cell: (each) => <Time at={each.last_used_at} as="relative" />,
  },
  {
    key: 'remove',
    label: '',
    align: 'end',
    cell: ({ id, name }) => (
      <OperationAction
        of={removePasskey}
        params={{ id }}
        label="Remove"
        title={`Remove “${name}”`}
        explanation="It no longer signs you in. Remove it from your device or password manager as well."
        kind="danger"
        invalidates={[pathOf(listPasskeys)]}
        done="The passkey was removed."
        onDone={() => void loadSession()}
      />
    ),
  },
];

function AddPasskey() {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);

  return (
    <>
      <Button onClick={() => setOpen(true)}>Add passkey</Button>
      {isOpen && (
        <Dialog title="Add a passkey" onClose={close}>
          <PasskeyForm buttons={<Button onClick={close}>Cancel</Button>} onAdded={close} />
        </Dialog>
      )}
    </>
  );
}
