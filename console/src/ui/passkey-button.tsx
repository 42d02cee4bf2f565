import type { CurrentOperator, SignInMethods } from '@latchkey/contract';
import { listSignInMethods } from '@latchkey/contract/admin/sign-in-methods';
import { useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { useOperation } from '#console/app/call.ts';

import { Button } from './button.tsx';
import { ErrorBox } from './error-box.tsx';

/** How operators can sign in to this service; undefined while it is not known. */
export function useSignInMethods(): SignInMethods | undefined {
  return useOperation(listSignInMethods, {}).data;
}

interface ProveButtonProps {
  readonly label: string;
  /** Null: the browser goes to another page. */
  readonly prove: () => Promise<CurrentOperator | null>;
  readonly onProved?: (current: CurrentOperator) => void;
}

/** A button that signs in or proves freshness without a form. */
export function ProveButton({ label, prove, onProved }: ProveButtonProps) {
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function use(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const current = await prove();
      if (current !== null) onProved?.(current);
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      setError(caught);
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <div class="buttons">
        <Button busy={isBusy} onClick={use}>
          {label}
        </Button>
      </div>
      {error && <ErrorBox error={error} />}
    </>
  );
}
