import type { PaymentEvent, PaymentPayload } from '@latchkey/contract';

import { apiPost } from '#console/app/api.ts';
import { hasRole } from '#console/app/session.ts';
import { Button } from '#console/ui/button.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { ErrorBox } from '#console/ui/error-box.tsx';
import { Section } from '#console/ui/page.tsx';
import { useRevealed } from '#console/ui/revealed-secret.tsx';
import { Time } from '#console/ui/time.tsx';

interface PayloadProps {
  readonly event: PaymentEvent;
  readonly path: string;
}

/** The payload of an event, which contains personal data: shown on demand, with an audit entry. */
export function Payload({ event, path }: PayloadProps) {
  const {
    secret: payload,
    error,
    reveal,
    hide,
  } = useRevealed(async () => (await apiPost<PaymentPayload>(`${path}/reveal`)).payload);

  return (
    <Section
      title="Payload"
      intro={<Intro event={event} />}
      actions={
        payload === null
          ? event.has_payload &&
            hasRole('support') && <Button onClick={reveal}>Reveal payload</Button>
          : [
              <CopyButton key="copy" text={payload} label="Copy payload" />,
              <Button key="hide" onClick={hide}>
                Hide
              </Button>,
            ]
      }
    >
      {error && <ErrorBox error={error} />}
      {payload !== null && (
        <pre class="json" tabIndex={0}>
          {payload}
        </pre>
      )}
    </Section>
  );
}

function Intro({ event }: { readonly event: PaymentEvent }) {
  if (!event.has_payload) {
    return (
      <>
        Removed <Time at={event.payload_removed_at} as="date" />: the event cannot be replayed.
      </>
    );
  }
  return <>It contains personal data. The audit log records who reveals it.</>;
}
