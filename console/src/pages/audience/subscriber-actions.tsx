import type { AdminSubscriberDetail } from '@latchkey/contract';
import {
  eraseSubscriber,
  removeSuppression,
  resendConfirmation,
  subscribers,
  suppressions,
  unsubscribeSubscriber,
} from '@latchkey/contract/admin/subscribers';

import { pathOf, useOperation } from '#console/app/call.ts';
import { OperationAction } from '#console/ui/operation-action.tsx';

/** What a change of an address changes. */
export const CHANGED = [pathOf(subscribers.list), pathOf(suppressions.list)];

interface SubscriberActionsProps {
  readonly subscriber: AdminSubscriberDetail;
  readonly onErased: () => void;
}

/** What an operator can do with a subscriber in its state. */
export function SubscriberActions({ subscriber, onErased }: SubscriberActionsProps) {
  const { id, state, email } = subscriber;
  const isSuppressed = subscriber.suppression_reason !== null;
  return (
    <>
      {(state === 'pending' || state === 'unsubscribed') && (
        <OperationAction
          of={resendConfirmation}
          params={{ id }}
          label="Resend confirmation"
          explanation={`Sends ${email} the e-mail with the confirmation link again, at most every five minutes and three times a day.`}
          confirm="Send e-mail"
          reason="required"
          invalidates={CHANGED}
          done="The e-mail is on its way."
        />
      )}
      {isSuppressed ? (
        <AllowMail email={email ?? ''} />
      ) : (
        <OperationAction
          of={unsubscribeSubscriber}
          params={{ id }}
          label="Unsubscribe"
          explanation={`${email} gets no newsletter and no outreach any more. The owner can subscribe again. E-mails with license keys still arrive.`}
          reason="required"
          invalidates={CHANGED}
          done="The address is unsubscribed."
        />
      )}
      <OperationAction
        of={eraseSubscriber}
        params={{ id }}
        label="Erase"
        title="Erase this subscriber"
        explanation="Deletes the subscription and its outreach, for example after a request under the GDPR. The address stays suppressed, as a keyed hash. Licenses keep their customer data."
        kind="danger"
        reason="required"
        invalidates={CHANGED}
        done="The subscriber was erased."
        onDone={onErased}
      />
    </>
  );
}

/** Finds the suppression of an address, and lifts it. */
function AllowMail({ email }: { readonly email: string }) {
  const { data } = useOperation(suppressions.list, { query: { search: email, limit: '1' } });
  const hash = data?.items[0]?.address_hash;
  return (
    <OperationAction
      of={removeSuppression}
      label="Allow mail again"
      explanation="Only at the request of the owner of the address."
      disabled={hash === undefined}
      reason="required"
      body={() => ({ address_hash: hash })}
      invalidates={CHANGED}
      done="The address gets mail again."
    />
  );
}
