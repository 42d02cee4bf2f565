import type { OperationAddress } from '@latchkey/contract';
import { useEffect, useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { mayCall } from '#console/app/session.ts';

import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { ErrorBox } from './error-box.tsx';

/** How long a revealed secret stays on the screen. */
const SHOWN_MS = 60_000;

interface RevealedSecretProps {
  /** What it is: `license key`. */
  readonly name: string;
  /** What is shown before, such as `…-7K2M`. */
  readonly hint: string;
  /** The operation that reveals it. */
  readonly of: Pick<OperationAddress, 'permission'>;
  /** Calls the operation. */
  readonly request: () => Promise<string>;
}

/** A secret that is shown on demand. */
interface Revealed {
  /** Null while it is hidden. */
  readonly secret: string | null;
  readonly error: ApiError | null;
  readonly reveal: () => Promise<void>;
  readonly hide: () => void;
}

/** Reveals a secret for a minute. @param request asks the service, which audits it */
export function useRevealed(request: () => Promise<string>): Revealed {
  const [secret, setSecret] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useEffect(() => {
    if (secret === null) return undefined;
    const timer = setTimeout(() => setSecret(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [secret]);

  async function reveal(): Promise<void> {
    setError(null);
    try {
      setSecret(await request());
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      setError(caught);
    }
  }

  return { secret, error, reveal, hide: () => setSecret(null) };
}

/** A secret that is shown on demand, for a minute; the service audits it. */
export function RevealedSecret({ name, hint, of, request }: RevealedSecretProps) {
  const { secret, error, reveal, hide } = useRevealed(request);
  return (
    <span class="secret">
      <code>{secret ?? hint}</code>
      {secret !== null && <CopyButton text={secret} label={`Copy ${name}`} />}
      {secret !== null && <Button onClick={hide}>Hide</Button>}
      {secret === null && mayCall(of) && (
        <Button label={`Reveal ${name}`} onClick={reveal}>
          Reveal
        </Button>
      )}
      {error && <ErrorBox error={error} />}
    </span>
  );
}

interface SecretOnceProps {
  readonly name: string;
  readonly text: string;
}

/** A secret that was just created and cannot be shown again. */
export function SecretOnce({ name, text }: SecretOnceProps) {
  return (
    <div class="notice warning">
      <p>Copy it now. It is not shown again.</p>
      <span class="secret">
        <code>{text}</code>
        <CopyButton text={text} label={`Copy ${name}`} />
      </span>
    </div>
  );
}
