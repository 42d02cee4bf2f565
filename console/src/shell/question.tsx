import { answer, question } from '#console/app/ask.ts';
import { invalidate } from '#console/app/resources.ts';
import { forgetOperator, operator, setOperator } from '#console/app/session.ts';
import { Dialog } from '#console/ui/dialog.tsx';

import { ProofForm } from './proof-form.tsx';
import { SignInForm } from '../pages/sign-in/sign-in-form.tsx';

/** The dialog of the question that interrupted a request. */
export function Question() {
  switch (question.value) {
    case null:
      return null;
    case 'proof':
      return (
        <Dialog title="Confirm that it is you" onClose={() => answer(false)}>
          <p>This needs a proof of the last 10 minutes.</p>
          <ProofForm
            onProved={(current) => {
              setOperator(current);
              answer(true);
            }}
          />
        </Dialog>
      );
    case 'sign_in':
      return <SignInAgain />;
  }
}

/** The session ended under an open page, which stays behind the dialog with all that was entered. */
function SignInAgain() {
  return (
    <Dialog title="Your session ended" onClose={giveUp} opaque>
      <p>Sign in to go on where you were.</p>
      <SignInForm
        email={operator.peek()?.email ?? ''}
        keepsPage
        onSignedIn={(current) => {
          // What one operator asked for is not sent by another.
          const isSame = current.id === operator.peek()?.id;
          setOperator(current);
          answer(isSame);
          invalidate('');
        }}
      />
    </Dialog>
  );
}

/** Goes to the sign-in page. */
function giveUp(): void {
  answer(false);
  forgetOperator();
}
