import type { CurrentOperator } from '@latchkey/contract';
import { disableTotp, renewRecoveryCodes } from '@latchkey/contract/admin/credentials';
import { useState } from 'preact/hooks';

import { loadSession } from '#console/app/session.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';
import { OperationAction } from '#console/ui/operation-action.tsx';
import { Section } from '#console/ui/page.tsx';
import { showToast } from '#console/ui/toast.tsx';

import { RecoveryCodes } from './recovery-codes.tsx';
import { TotpSetup } from './totp-setup.tsx';

/** One-time codes and recovery codes. */
export function SecondFactorSection({ current }: { readonly current: CurrentOperator }) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  return (
    <Section
      title="Two-step sign-in"
      intro="A one-time code of an authenticator app, in addition to your password."
      actions={current.totp_enabled ? <EnabledActions onCodes={setCodes} /> : <Enable />}
    >
      {current.totp_enabled ? (
        <p>
          <Badge tone="good">On</Badge> {describeCodes(current.recovery_codes_left)}
        </p>
      ) : (
        <p>
          <Badge tone="warning">Off</Badge> Your password alone is enough to sign in.
        </p>
      )}
      {codes && (
        <Dialog title="New recovery codes" onClose={() => setCodes(null)}>
          <RecoveryCodes codes={codes} onStored={() => setCodes(null)} />
        </Dialog>
      )}
    </Section>
  );
}

function describeCodes(count: number): string {
  if (count === 0) return 'You have no recovery codes left: create new ones.';
  return count === 1
    ? 'You have 1 recovery code left: create new ones.'
    : `You have ${count} recovery codes left.`;
}

interface EnabledActionsProps {
  readonly onCodes: (codes: readonly string[]) => void;
}

function EnabledActions({ onCodes }: EnabledActionsProps) {
  return (
    <>
      <OperationAction
        of={renewRecoveryCodes}
        label="New recovery codes"
        explanation="Your previous recovery codes stop working."
        invalidates={[]}
        done="New recovery codes were created."
        onDone={({ codes }) => {
          onCodes(codes);
          void loadSession();
        }}
      />
      <OperationAction
        of={disableTotp}
        label="Turn off"
        title="Turn off two-step sign-in"
        explanation="Your password alone signs you in. The authenticator and the recovery codes stop working."
        kind="danger"
        invalidates={[]}
        done="Two-step sign-in is off."
        onDone={() => void loadSession()}
      />
    </>
  );
}

function Enable() {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        Turn on
      </Button>
      {isOpen && (
        <Dialog title="Turn on two-step sign-in" onClose={close}>
          <TotpSetup
            onDone={() => {
              close();
              showToast('Two-step sign-in is on.');
              void loadSession();
            }}
          />
        </Dialog>
      )}
    </>
  );
}
