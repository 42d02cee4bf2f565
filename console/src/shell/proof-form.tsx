import type { CurrentOperator } from '@latchkey/contract';
import { proveFreshness } from '@latchkey/contract/admin/session';
import { proveByProxy } from '@latchkey/contract/admin/sign-in-methods';

import { callOnce } from '#console/app/call.ts';
import { proveWithPasskey } from '#console/app/passkeys.ts';
import { serviceNowMs } from '#console/app/service-clock.ts';
import { operator } from '#console/app/session.ts';
import { Field } from '#console/ui/field.tsx';
import { Form } from '#console/ui/form.tsx';
import { ProveButton, useSignInMethods } from '#console/ui/passkey-button.tsx';
import { ProviderButton } from '#console/ui/provider-button.tsx';

interface ProofFormProps {
  readonly onProved: (current: CurrentOperator) => void;
}

/** Proves freshness with a passkey, the identity provider, the proxy, or the password and a code if codes are enabled. */
export function ProofForm({ onProved }: ProofFormProps) {
  const current = operator.value;
  const methods = useSignInMethods();
  return (
    <>
      {current != null && current.passkeys > 0 && (
        <ProveButton label="Use a passkey" prove={proveWithPasskey} onProved={onProved} />
      )}
      {current?.has_password === false && methods?.provider != null && (
        <ProviderButton
          label={`Confirm with ${methods.provider}`}
          provider={methods.provider}
          purpose="proof"
          isDone={isProved}
          onProved={onProved}
        />
      )}
      {current?.has_password === false && methods?.proxy === true && (
        <ProveButton label="Confirm as the proxy names you" prove={askProxy} onProved={onProved} />
      )}
      {current?.has_password !== false && <PasswordProof onProved={onProved} />}
    </>
  );
}

/** Whether it is the same operator, with a fresh session. */
function isProved({ id, fresh_until: until }: CurrentOperator): boolean {
  return id === operator.peek()?.id && until !== null && Date.parse(until) > serviceNowMs();
}

function askProxy(): Promise<CurrentOperator> {
  return callOnce(proveByProxy, {});
}

function PasswordProof({ onProved }: ProofFormProps) {
  const current = operator.value;
  return (
    <Form
      submit="Confirm"
      onSubmit={async ({ password = '', code = '' }) => {
        const body = { password, ...(code.trim() === '' ? {} : { code: code.trim() }) };
        onProved(await callOnce(proveFreshness, { body }));
      }}
    >
      <input type="email" autoComplete="username" value={current?.email ?? ''} hidden readOnly />
      <Field
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        required
        autoFocus
      />
      {current?.totp_enabled === true && <CodeField />}
    </Form>
  );
}

/** The field of a one-time code or a recovery code. */
export function CodeField({ autoFocus = false }: { readonly autoFocus?: boolean }) {
  return (
    <Field
      label="Code"
      name="code"
      autoComplete="one-time-code"
      spellcheck={false}
      required
      autoFocus={autoFocus}
      maxLength={40}
      hint="The current code of your authenticator app, or one of your recovery codes."
    />
  );
}
