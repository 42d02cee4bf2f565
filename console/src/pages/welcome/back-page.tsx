import { useEffect } from 'preact/hooks';

import { reportBack } from '#console/app/provider-window.ts';
import { query } from '#console/app/router.ts';
import { Notice } from '#console/ui/error-box.tsx';
import { Lone } from '#console/ui/lone.tsx';

/** The end of a window that was at the identity provider: it reports back and closes; a failure stays. */
export function BackPage() {
  const hasFailed = query.value.has('problem');
  useEffect(() => {
    if (hasFailed) return;
    reportBack();
    globalThis.close();
  }, [hasFailed]);
  if (hasFailed) {
    return (
      <Lone title="Not confirmed">
        <Notice kind="error">
          The identity provider did not sign you in as this operator. Close this window, and try
          again.
        </Notice>
      </Lone>
    );
  }
  return <Lone title="Confirmed" intro="Close this window, and go on in the one behind it." />;
}
