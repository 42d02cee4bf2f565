import { useEffect } from 'preact/hooks';

import { navigate, path, query, SIGN_IN } from '#console/app/router.ts';
import { setOperator } from '#console/app/session.ts';
import { Lone } from '#console/ui/lone.tsx';

import { SignInForm } from './sign-in-form.tsx';

/** The page of everybody who is not signed in; the address keeps the page to return to. */
export function SignInPage() {
  useEffect(() => {
    if (path.peek() === SIGN_IN) return;
    const { search } = globalThis.location;
    const next = path.peek() + search;
    navigate(next === '/' ? SIGN_IN : `${SIGN_IN}?next=${encodeURIComponent(next)}`, {
      replace: true,
    });
  }, [query.value]);
  return (
    <Lone title="Sign in">
      <SignInForm onSignedIn={setOperator} />
      <details class="help">
        <summary>Lost your password or your phone?</summary>
        <p>
          Sign in with one of your recovery codes in place of the code. Without one, ask the
          administrator of the server for a new link: <code>latchkey operator reset EMAIL</code>{' '}
          creates it.
        </p>
      </details>
    </Lone>
  );
}
