import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  /** Called when the operator closes it, also by Escape. */
  readonly onClose: () => void;
  /** Hides what is behind it. */
  readonly opaque?: boolean;
  /** For a preview or a table. */
  readonly wide?: boolean;
  readonly children?: ComponentChildren;
}

const FIRST_CONTROL = ['input:not([hidden])', 'select', 'textarea', 'button']
  .map((each) => `form ${each}`)
  .join(',');

/** A modal dialog that is open while it is rendered. The focus returns to where it was. */
export function Dialog({ title, onClose, opaque = false, wide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const { current } = dialog;
    const before = document.activeElement;
    current?.showModal();
    // The browser would focus the close button.
    if (current?.querySelector('[autofocus]') === null) {
      current.querySelector<HTMLElement>(FIRST_CONTROL)?.focus();
    }
    return () => {
      current?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`${opaque ? 'opaque' : ''} ${wide ? 'wide' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="button quiet close" aria-label="Close" onClick={onClose}>
          <span aria-hidden="true">×</span>
        </button>
      </header>
      {children}
    </dialog>
  );
}
