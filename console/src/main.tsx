/** Starts the console. */
import { render } from 'preact';

import { answer, ask } from './app/ask.ts';
import { setApiHooks } from './app/api.ts';
import { startRefreshing } from './app/resources.ts';
import { startRouter } from './app/router.ts';
import { loadSession, operator, refreshSession } from './app/session.ts';
import { App } from './shell/app.tsx';
import { preloadPage } from './shell/route.tsx';

setApiHooks({
  askForProof: () => ask('proof'),
  // On the sign-in page, there is nothing to go on with.
  askToSignIn: async () => operator.peek() != null && ask('sign_in'),
});
startRouter();
startRefreshing(refreshSession);
void loadSession();
preloadPage();
// A question about the session of the page before is not left open in a page that the browser kept.
globalThis.addEventListener('pagehide', () => answer(false));

const root = document.querySelector('#app');
if (root !== null) render(<App />, root);
