import type { AdminSubscriberDetail, AdminSuppressionList } from '@latchkey/contract';

import { useResource } from '#console/app/resources.ts';
import { Action } from '#console/ui/action.tsx';

const SUBSCRIBERS = '/api/v1/admin/subscribers';
const SUPPRESSIONS = '/api/v1/admin/suppressions';
const CHANGED = [SUBSCRIBERS, SUPPRESSIONS];

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
        <Action
          label="Resend confirmation"
          explanation={`Sends ${email} the e-mail with the confirmation link again, at most every five minutes and three times a day.`}
          confirm="Send e-mail"
          role="support"
          reason="required"
          path={`${SUBSCRIBERS}/${id}/resend-confirmation`}
          invalidates={CHANGED}
          done="The e-mail is on its way."
        />
      )}
      {isSuppressed ? (
        <AllowMail email={email ?? ''} />
      ) : (
        <Action
          label="Unsubscribe"
          explanation={`${email} gets no newsletter and no outreach any more. The owner can subscribe again. E-mails with license keys still arrive.`}
          role="admin"
          reason="required"
          path={`${SUBSCRIBERS}/${id}/unsubscribe`}
          invalidates={CHANGED}
          done="The address is unsubscribed."
        />
      )}
      <Action
        label="Erase"
        title="Erase this subscriber"
        explanation="Deletes the subscription and its outreach, for example after a request under the GDPR. The address stays suppressed, as a keyed hash. Licenses keep their customer data."
        kind="danger"
        role="admin"
        reason="required"
        path={`${SUBSCRIBERS}/${id}/erase`}
        invalidates={CHANGED}
        done="The subscriber was erased."
        onDone={onErased}
      />
    </>
  );
}

/** Finds the suppression of an address, and lifts it. */
function AllowMail({ email }: { readonly email: string }) {
  const search = `${SUPPRESSIONS}?search=${encodeURIComponent(email)}&limit=1`;
  const { data } = useResource<AdminSuppressionList>(search);
  const hash = data?.items[0]?.address_hash;
  return (
    <Action
      label="Allow mail again"
      explanation="Only at the request of the owner of the address."
      role="admin"
      disabled={hash === undefined}
      reason="required"
      path={`${SUPPRESSIONS}/remove`}
      body={() => ({ address_hash: hash })}
      invalidates={CHANGED}
      done="The address gets mail again."
    />
  );
}
