import { useState } from 'preact/hooks';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for screen readers: `Copy license key`. */
  readonly label: string;
}

/** Copies a text to the clipboard and says so. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setState('copied');
    } catch {
      // The browser refused; the text can be selected.
      setState('failed');
    }
    setTimeout(() => setState('idle'), 2_000);
  }
  const words = { idle: 'Copy', copied: 'Copied', failed: 'Select it' };
  return (
    <button type="button" class="button small" aria-label={label} onClick={() => void copy()}>
      <span aria-live="polite">{words[state]}</span>
    </button>
  );
}
