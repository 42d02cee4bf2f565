/** A service with data, and a browser with a signed-in operator: for tests and screenshots. */
import type { OperatorRole } from '@latchkey/contract';

import { launchChromium } from '../../scripts/lib/chromium.ts';
import { createSmtpTransport } from '../../server/src/mail/smtp-transport.ts';
import { openTestService, type TestService } from '../../server/test/harness.ts';
import { startMailRelay, type MailRelay } from '../../server/test/mail-relay.ts';
import type { TestClock } from '../../server/test/test-clock.ts';
import { Windows, type Look, type Window } from './windows.ts';
import { createWorld, type World } from './world/create-world.ts';

/** A service with data, and a browser. */
export interface Console {
  readonly service: TestService;
  /** The SMTP relay of the service. */
  readonly relay: MailRelay;
  readonly world: World;
  /** Opens a window. @param role of a new operator; null: signed out */
  readonly open: (role: OperatorRole | null, look?: Look) => Promise<Window>;
}

/** Runs with the time of this computer, which the browser has too; `advance` adds to it. */
export function createRunningClock(): TestClock {
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    set: (now) => {
      aheadMs = now.getTime() - Date.now();
    },
    advance: (milliseconds) => {
      aheadMs += milliseconds;
    },
  };
}

/** How many of the last lines are shown when the service refuses the data. */
const LOG_LINES = 5;

/** Starts a service with data, and a browser. @param resources ends both */
export async function openConsole(resources: AsyncDisposableStack): Promise<Console> {
  const settings = { LATCHKEY_PUBLIC_URL: 'http://127.0.0.1:8080' };
  const relay = await startMailRelay();
  resources.defer(() => relay.close());
  const mailFrom = 'Example Shop <shop@example.com>';
  const outreachMail = createSmtpTransport({ url: relay.url, from: mailFrom, dkim: null });
  resources.defer(() => outreachMail.close());
  const options = {
    clock: createRunningClock(),
    settings,
    mail: outreachMail,
    outreachMail,
    mailFrom,
  };
  const service = await openTestService(options, resources);
  const browser = await launchChromium();
  resources.defer(() => browser.close());
  const windows = new Windows(browser, service);
  const world = await createWorld(service).catch((error: unknown) => {
    throw new Error(service.log.slice(-LOG_LINES).join('\n'), { cause: error });
  });
  return { service, relay, world, open: (role, look) => windows.open(role, look) };
}
