import { isReachable } from '#console/app/api.ts';

/** Reports that the service does not answer; the page stays as it is, and goes on when the service is back. */
export function ConnectionBanner() {
  return (
    <div class="banner" role="status" aria-live="polite">
      {!isReachable.value && (
        <p>
          The service does not answer. This page keeps trying; nothing that you entered is lost.
        </p>
      )}
    </div>
  );
}
