import type { PaymentEvent } from '@latchkey/contract';
import { revealPaymentPayload } from '@latchkey/contract/admin/payments';

import { call } from '#console/app/call.ts';
import { mayCall } from '#console/app/session.ts';
import { Button } from '#console/ui/button.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { ErrorBox } from '#console/ui/error-box.tsx';
import { Section } from '#console/ui/page.tsx';
import { useRevealed } from '#console/ui/revealed-secret.tsx';
import { Time } from '#console/ui/time.tsx';

/** The payload of an event, which contains personal data: shown on demand, with an audit entry. */
export function Payload({ event }: { readonly event: PaymentEvent }) {
  const { provider, event_id } = event;
  const {
    secret: payload,
    error,
    reveal,
    hide,
  } = useRevealed(
    async () => (await call(revealPaymentPayload, { params: { provider, event_id } })).payload,
  );

  return (
    <Section
      title="Payload"
      intro={<Intro event={event} />}
      actions={
        payload === null
          ? event.has_payload &&
            mayCall(revealPaymentPayload) && <Button onClick={reveal}>Reveal payload</Button>
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
