import type { CurrentOperator } from '@latchkey/contract';
import { useEffect, useState } from 'preact/hooks';

import {
  onBack,
  openProviderWindow,
  readCurrent,
  type ProviderPurpose,
} from '#console/app/provider-window.ts';

import { Notice } from './error-box.tsx';
import { ProveButton } from './passkey-button.tsx';

interface ProviderButtonProps {
  readonly label: string;
  /** The name of the provider. */
  readonly provider: string;
  readonly purpose: ProviderPurpose;
  /** Whether the operator has done what the window was opened for. */
  readonly isDone: (current: CurrentOperator) => boolean;
  readonly onProved: (current: CurrentOperator) => void;
}

/** Opens the identity provider in a window, and goes on when that is back. */
export function ProviderButton(props: ProviderButtonProps) {
  const { label, provider, purpose, isDone, onProved } = props;
  /** '': the window is open; a URL: the browser opened none. */
  const [waiting, setWaiting] = useState<string | null>(null);

  useEffect(() => {
    if (waiting === null) return undefined;
    let isOver = false;
    const check = async (): Promise<void> => {
      const current = await readCurrent();
      if (isOver || current === null || !isDone(current)) return;
      isOver = true;
      onProved(current);
    };
    const stop = onBack(() => void check());
    return () => {
      isOver = true;
      stop();
    };
  }, [waiting]);

  async function open(): Promise<null> {
    setWaiting((await openProviderWindow(purpose)) ?? '');
    return null;
  }

  return (
    <>
      <ProveButton label={label} prove={open} />
      {waiting === '' && <Notice>Go on in the window of {provider}.</Notice>}
      {waiting !== null && waiting !== '' && (
        <Notice kind="warning">
          The browser opened no window.{' '}
          <a href={waiting} target="_blank" rel="noreferrer">
            Open {provider}
          </a>
        </Notice>
      )}
    </>
  );
}
