/** The mark of Latchkey: a key. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" />
      <circle cx="9" cy="9.5" r="3.4" />
      <path d="M11.5 12l6 6m-2.6-2.6l1.9-1.9" />
    </svg>
  );
}
