import type { Passkey, Passkeys } from '@latchkey/contract';
import { useState } from 'preact/hooks';

import { useResource } from '#console/app/resources.ts';
import { loadSession } from '#console/app/session.ts';
import { Action } from '#console/ui/action.tsx';
import { Badge } from '#console/ui/badge.tsx';
import { Button } from '#console/ui/button.tsx';
import type { Column } from '#console/ui/data-table.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { Section } from '#console/ui/page.tsx';
import { useSignInMethods } from '#console/ui/passkey-button.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { Time } from '#console/ui/time.tsx';

import { PasskeyForm, PASSKEYS } from './passkey-form.tsx';

/** The passkeys of the operator, where the service allows them. */
export function PasskeysSection() {
  const methods = useSignInMethods();
  if (methods?.passkeys !== true) return null;
  return <List />;
}

function List() {
  const passkeys = useResource<Passkeys>(PASSKEYS);
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
      <Action
        label="Remove"
        title={`Remove “${name}”`}
        explanation="It no longer signs you in. Remove it from your device or password manager as well."
        kind="danger"
        role="viewer"
        path={`${PASSKEYS}/${id}/remove`}
        invalidates={[PASSKEYS]}
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
