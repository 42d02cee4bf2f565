import type { CurrentOperator, SignInMethods } from '@latchkey/contract';
import { signIn } from '@latchkey/contract/admin/session';
import { signInByProxy } from '@latchkey/contract/admin/sign-in-methods';
import { useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { callOnce } from '#console/app/call.ts';
import { signInWithPasskey } from '#console/app/passkeys.ts';
import { readProviderUrl } from '#console/app/provider-window.ts';
import { query, returnPath, SIGN_IN } from '#console/app/router.ts';
import { CodeField } from '#console/shell/proof-form.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { Field } from '#console/ui/field.tsx';
import { Form, type FormValues } from '#console/ui/form.tsx';
import { ProveButton, useSignInMethods } from '#console/ui/passkey-button.tsx';
import { ProviderButton } from '#console/ui/provider-button.tsx';

interface SignInFormProps {
  /** Filled in; '' for none. */
  readonly email?: string;
  /** Whether the page behind must stay, so that the identity provider gets a window of its own. */
  readonly keepsPage?: boolean;
  readonly onSignedIn: (current: CurrentOperator) => void;
}

/** Address, password and, if the service asks for it, a code; or a passkey. */
export function SignInForm({ email = '', keepsPage = false, onSignedIn }: SignInFormProps) {
  const [needsCode, setNeedsCode] = useState(false);

  async function send({ email: address = '', password = '', code = '' }: FormValues) {
    const body = {
      email: address.trim(),
      password,
      ...(code.trim() === '' ? {} : { code: code.trim() }),
    };
    try {
      onSignedIn(await callOnce(signIn, { body }));
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'code_required') throw error;
      setNeedsCode(true);
    }
  }

  const methods = useSignInMethods();
  return (
    <>
      <OtherWays onSignedIn={onSignedIn} methods={methods} keepsPage={keepsPage} />
      {methods?.passwords !== false && (
        <Form submit={needsCode ? 'Sign in with code' : 'Sign in'} onSubmit={send}>
          <Field
            label="E-mail address"
            name="email"
            type="email"
            autoComplete="username"
            value={email}
            required
            autoFocus={email === ''}
          />
          <Field
            label="Password"
            name="password"
            type="password"
            autoComplete="current-password"
            required
            autoFocus={email !== ''}
          />
          {needsCode && <CodeField autoFocus />}
        </Form>
      )}
      {methods?.passkeys === true && (
        <ProveButton
          label="Sign in with a passkey"
          prove={signInWithPasskey}
          onProved={onSignedIn}
        />
      )}
    </>
  );
}

interface OtherWaysProps {
  readonly methods: SignInMethods | undefined;
  readonly keepsPage: boolean;
  readonly onSignedIn: (current: CurrentOperator) => void;
}

/** Signing in by the identity provider, or as the operator that a proxy names. */
function OtherWays({ methods, keepsPage, onSignedIn }: OtherWaysProps) {
  return (
    <>
      {!keepsPage && query.value.get('problem') === 'provider' && (
        <Notice kind="error">
          The identity provider did not sign you in as an operator. Ask an administrator for a role,
          or for a one-time link.
        </Notice>
      )}
      {methods?.provider != null && (
        <ProviderSignIn provider={methods.provider} keepsPage={keepsPage} onSignedIn={onSignedIn} />
      )}
      {methods?.proxy === true && (
        <ProveButton
          label="Sign in as the proxy names you"
          prove={() => callOnce(signInByProxy, {})}
          onProved={onSignedIn}
        />
      )}
    </>
  );
}

interface ProviderSignInProps extends Omit<OtherWaysProps, 'methods'> {
  readonly provider: string;
}

function ProviderSignIn({ provider, keepsPage, onSignedIn }: ProviderSignInProps) {
  const label = `Sign in with ${provider}`;
  if (!keepsPage) return <ProveButton label={label} prove={goToProvider} />;
  return (
    <ProviderButton
      label={label}
      provider={provider}
      purpose="sign_in"
      isDone={() => true}
      onProved={onSignedIn}
    />
  );
}

/** Leaves the console; the provider sends the browser back to this page, which leads to the one that was asked for. */
async function goToProvider(): Promise<null> {
  const next = new URLSearchParams({ next: returnPath() }).toString();
  globalThis.location.assign(await readProviderUrl('sign_in', `${SIGN_IN}?${next}`));
  return null;
}
