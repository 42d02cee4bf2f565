import type { OperatorTotpSecret } from '@latchkey/contract';
import { beginTotp, enableTotp } from '@latchkey/contract/admin/credentials';
import { useEffect, useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { call } from '#console/app/call.ts';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { Loading } from '#console/ui/empty.tsx';
import { ErrorBox } from '#console/ui/error-box.tsx';
import { Field } from '#console/ui/field.tsx';
import { Form } from '#console/ui/form.tsx';

import { QrCode } from './qr-code.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

interface TotpSetupProps {
  /** Called after the recovery codes were stored. */
  readonly onDone: () => void;
}

/** Sets up one-time codes: a secret as QR code, a code that proves it, then the recovery codes. */
export function TotpSetup({ onDone }: TotpSetupProps) {
  const [secret, setSecret] = useState<OperatorTotpSecret | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);

  function begin(): void {
    setError(null);
    call(beginTotp, {}).then(setSecret, (caught: unknown) => {
      if (caught instanceof ApiError) setError(caught);
    });
  }
  useEffect(begin, []);

  if (codes !== null) return <RecoveryCodes codes={codes} onStored={onDone} />;
  if (error !== null) return <ErrorBox error={error} onRetry={begin} />;
  if (secret === null) return <Loading />;
  return (
    <Form
      submit="Turn on"
      onSubmit={async ({ code = '' }) => {
        const answer = await call(enableTotp, { body: { code: code.trim() } });
        setCodes(answer.codes);
      }}
    >
      <p>1. Scan this code with an authenticator app.</p>
      <QrCode text={secret.uri} label="QR code for your authenticator app" />
      <p class="secret">
        Or enter the key: <code>{groupByFour(secret.secret)}</code>
        <CopyButton text={secret.secret} label="Copy the key" />
      </p>
      <p>2. Enter the code that the app shows.</p>
      <Field
        label="Code"
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        autoFocus
        maxLength={10}
        spellcheck={false}
      />
    </Form>
  );
}

function groupByFour(text: string): string {
  return text.replaceAll(/.{4}(?=.)/g, '$& ');
}
