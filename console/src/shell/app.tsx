import { useEffect } from 'preact/hooks';

import type { ApiError } from '#console/app/api-error.ts';
import { BACK_PATH } from '#console/app/provider-window.ts';
import { navigate, path, returnPath, SIGN_IN } from '#console/app/router.ts';
import { loadSession, operator, sessionError } from '#console/app/session.ts';
import { WELCOME_PATH } from '#console/pages.ts';
import { SignInPage } from '#console/pages/sign-in/sign-in-page.tsx';
import { ErrorBox } from '#console/ui/error-box.tsx';
import { Lone } from '#console/ui/lone.tsx';
import { Toasts } from '#console/ui/toast.tsx';

import { ConnectionBanner } from './connection-banner.tsx';
import { Frame } from './frame.tsx';
import { Question } from './question.tsx';
import { BackRoute, Route, WelcomeRoute } from './route.tsx';

/** The whole console. */
export function App() {
  return (
    <>
      <ConnectionBanner />
      <Content />
      <Question />
      <Toasts />
    </>
  );
}

function Content() {
  if (path.value === WELCOME_PATH) return <WelcomeRoute />;
  if (path.value === BACK_PATH) return <BackRoute />;
  const current = operator.value;
  if (current === null) return <SignInPage />;
  if (current !== undefined) {
    if (path.value === SIGN_IN) return <SignedIn />;
    return (
      <Frame key={current.id} operator={current}>
        <Route />
      </Frame>
    );
  }
  const error = sessionError.value;
  return error === null ? null : <NoSession error={error} />;
}

/** How often the session is asked for again while the window is visible. */
const RETRY_MS = 3_000;

/** The service did not say who is signed in. */
function NoSession({ error }: { readonly error: ApiError }) {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void loadSession();
    }, RETRY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <Lone title="The console cannot start">
      <ErrorBox error={error} onRetry={() => void loadSession()} />
    </Lone>
  );
}

/** Leaves the sign-in page once an operator is signed in. */
function SignedIn() {
  useEffect(() => navigate(returnPath(), { replace: true }), []);
  return null;
}
