import { beginPasskey, listPasskeys, registerPasskey } from '@latchkey/contract/admin/passkeys';
import type { ComponentChildren } from 'preact';

import { call, pathOf } from '#console/app/call.ts';
import { createPasskey } from '#console/app/passkeys.ts';
import { invalidate } from '#console/app/resources.ts';
import { loadSession } from '#console/app/session.ts';
import { Field } from '#console/ui/field.tsx';
import { Form } from '#console/ui/form.tsx';
import { showToast } from '#console/ui/toast.tsx';

import { describeBrowser } from './describe-browser.ts';

interface PasskeyFormProps {
  /** Beside the button that submits. */
  readonly buttons: ComponentChildren;
  readonly onAdded: () => void;
}

/** Names a new passkey of the operator, and creates it with the browser. */
export function PasskeyForm({ buttons, onAdded }: PasskeyFormProps) {
  async function add(name: string): Promise<void> {
    const creation = await call(beginPasskey, {});
    await call(registerPasskey, { body: { name, ...(await createPasskey(creation)) } });
    invalidate(pathOf(listPasskeys));
    onAdded();
    showToast('The passkey was added.');
    await loadSession();
  }

  return (
    <Form submit="Continue" buttons={buttons} onSubmit={({ name = '' }) => add(name.trim())}>
      <Field
        label="Name"
        name="name"
        required
        autoFocus
        maxLength={64}
        value={describeBrowser(navigator.userAgent)}
        hint="So that you recognize it later. Your browser then asks how to create it."
      />
    </Form>
  );
}
