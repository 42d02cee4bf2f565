import type { CurrentOperator, OperatorLink, SignInMethods } from '@latchkey/contract';
import { redeemOperatorLink, viewOperatorLink } from '@latchkey/contract/admin/credentials';
import { useEffect, useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { callOnce } from '#console/app/call.ts';
import { navigate } from '#console/app/router.ts';
import { setOperator } from '#console/app/session.ts';
import { Button } from '#console/ui/button.tsx';
import { Loading } from '#console/ui/empty.tsx';
import { ErrorBox } from '#console/ui/error-box.tsx';
import { Field } from '#console/ui/field.tsx';
import { Form } from '#console/ui/form.tsx';
import { Lone } from '#console/ui/lone.tsx';
import { useSignInMethods } from '#console/ui/passkey-button.tsx';

import { NewPasswordField } from '../account/new-password-field.tsx';
import { PasskeyForm } from '../account/passkey-form.tsx';
import { TotpSetup } from '../account/totp-setup.tsx';

/** The page of a one-time link: name and password, then two-step sign-in. Where passwords are switched off: a passkey. */
export function WelcomePage() {
  const methods = useSignInMethods();
  const [token] = useState(() => globalThis.location.hash.slice(1));
  const [next, setNext] = useState<'one-time codes' | 'passkey' | null>(null);
  useEffect(() => {
    // The address is in the history of the browser, and the link works once.
    if (token !== '') history.replaceState(null, '', globalThis.location.pathname);
  }, [token]);
  const finish = (): void => navigate('/', { replace: true });
  if (next === 'one-time codes') return <SecondStep onDone={finish} />;
  if (next === 'passkey') return <PasskeyStep onDone={finish} />;
  return (
    <FirstStep
      token={token}
      methods={methods}
      onSignedIn={(current) => {
        setOperator(current);
        if (methods?.passwords === false && methods.passkeys) setNext('passkey');
        else if (methods?.passwords !== false && !current.totp_enabled) setNext('one-time codes');
        else finish();
      }}
    />
  );
}

interface FirstStepProps {
  readonly token: string;
  /** Undefined while they are not known. */
  readonly methods: SignInMethods | undefined;
  readonly onSignedIn: (current: CurrentOperator) => void;
}

function FirstStep({ token, methods, onSignedIn }: FirstStepProps) {
  const [link, setLink] = useState<OperatorLink | null>(null);
  const [error, setError] = useState<ApiError | null>(null);

  function read(): void {
    setError(null);
    callOnce(viewOperatorLink, { body: { token } }).then(setLink, (caught: unknown) => {
      if (caught instanceof ApiError) setError(caught);
    });
  }
  useEffect(read, [token]);

  if (token === '' || error?.status === 401 || error?.status === 422) return <BadLink />;
  if (error !== null) {
    return (
      <Lone title="Welcome">
        <ErrorBox error={error} onRetry={read} />
      </Lone>
    );
  }
  if (link === null) return <Loading />;
  const hasPasswords = methods?.passwords !== false;
  const who =
    link.email === null
      ? 'You are the first operator, an administrator.'
      : `You are ${link.email}, with the role ${link.role}.`;
  return (
    <Lone
      title="Welcome to Latchkey"
      intro={`${who} ${hasPasswords ? 'Choose a password to sign in.' : describeNextTime(methods)}`}
    >
      <Form
        submit={hasPasswords ? 'Set password and sign in' : 'Sign in'}
        onSubmit={async ({ email = '', name = '', password }) => {
          const body = {
            token,
            name: name.trim(),
            ...(password === undefined ? {} : { password }),
            ...(email === '' ? {} : { email: email.trim() }),
          };
          onSignedIn(await callOnce(redeemOperatorLink, { body }));
        }}
      >
        {link.email === null ? (
          <Field
            label="E-mail address"
            name="email"
            type="email"
            autoComplete="username"
            required
            autoFocus
          />
        ) : (
          <input type="email" autoComplete="username" value={link.email} hidden readOnly />
        )}
        <Field
          label="Your name"
          name="name"
          autoComplete="name"
          value={link.name}
          required
          autoFocus={link.email !== null}
          maxLength={200}
          hint="Shown to other operators and in the audit log."
        />
        {hasPasswords && <NewPasswordField autoFocus={false} />}
      </Form>
    </Lone>
  );
}

/** How to sign in after the link, where passwords are switched off. */
function describeNextTime({ passkeys, provider }: SignInMethods): string {
  const ways = [...(passkeys ? ['a passkey'] : []), ...(provider === null ? [] : [provider])];
  const once = 'Passwords are switched off, and this link signs you in once.';
  return ways.length === 0 ? once : `${once} The next time, sign in with ${ways.join(' or ')}.`;
}

function BadLink() {
  return (
    <Lone title="This link does not work">
      <p>
        A link works once, for 30 minutes. Ask the administrator of the server for a new one:{' '}
        <code>latchkey operator reset EMAIL</code> creates it, or{' '}
        <code>latchkey operator create EMAIL</code> while there is no operator.
      </p>
      <p>
        <Button onClick={() => navigate('/')}>Sign in</Button>
      </p>
    </Lone>
  );
}

function SecondStep({ onDone }: { readonly onDone: () => void }) {
  return (
    <Lone
      title="Turn on two-step sign-in"
      intro="With a one-time code, a stolen password alone is of no use."
    >
      <TotpSetup onDone={onDone} />
      <p>
        <Button kind="quiet" onClick={onDone}>
          Not now
        </Button>
      </p>
    </Lone>
  );
}

function PasskeyStep({ onDone }: { readonly onDone: () => void }) {
  return (
    <Lone
      title="Add a passkey"
      intro="Sign in the next time with your fingerprint, face or PIN, or a security key."
    >
      <PasskeyForm
        onAdded={onDone}
        buttons={
          <Button kind="quiet" onClick={onDone}>
            Not now
          </Button>
        }
      />
    </Lone>
  );
}
