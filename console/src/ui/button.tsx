import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { ApiError } from '#console/app/api-error.ts';
import { hrefOf } from '#console/app/router.ts';

import { showToast } from './toast.tsx';

interface ButtonProps {
  /** `primary`: the main action of a form; `danger`: cannot be undone; `quiet`: without a border. */
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  /** Whether its work is in progress; the work of `onClick` need not be named. */
  readonly busy?: boolean;
  readonly label?: string;
  /** An ApiError that it throws is shown as a message. */
  readonly onClick?: () => unknown;
  readonly children?: ComponentChildren;
}

/** A button that works once at a time: a click during the work of an earlier one does nothing. */
export function Button(props: ButtonProps) {
  const { kind = 'plain', type = 'button', disabled = false, label } = props;
  const [isWorking, setWorking] = useState(false);
  const isBusy = isWorking || props.busy === true;

  async function work(done: Promise<unknown>): Promise<void> {
    setWorking(true);
    try {
      await done;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      showToast(error.message);
    } finally {
      setWorking(false);
    }
  }

  return (
    <button
      type={type}
      class={`button ${kind}`}
      disabled={disabled}
      aria-busy={isBusy}
      aria-label={label}
      onClick={() => {
        const done = isBusy ? undefined : props.onClick?.();
        if (done instanceof Promise) void work(done);
      }}
    >
      {props.children}
    </button>
  );
}

interface LinkButtonProps {
  readonly to: string;
  readonly kind?: ButtonProps['kind'];
  readonly children?: ComponentChildren;
}

/** A link that looks like a button. */
export function LinkButton({ to, kind = 'plain', children }: LinkButtonProps) {
  return (
    <a class={`button ${kind}`} href={hrefOf(to)}>
      {children}
    </a>
  );
}
