import { signal } from '@preact/signals';

/** How long a message stays. */
const SHOWN_MS = 5_000;

const message = signal('');
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a short message at the edge of the window; screen readers read it. */
export function showToast(text: string): void {
  clearTimeout(timer);
  message.value = text;
  timer = setTimeout(() => {
    message.value = '';
  }, SHOWN_MS);
}

/** The place of messages; rendered once by the shell. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {message.value !== '' && <p>{message.value}</p>}
    </div>
  );
}
