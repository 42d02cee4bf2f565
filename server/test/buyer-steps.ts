import assert from 'node:assert/strict';
import { beforeEach } from 'node:test';

import { createJobHandlers } from '#server/background.ts';
import type { FailedResult, MailMessage, MailTransport } from '#server/mail/mail-transport.ts';

import { airgapCatalog } from './airgap-steps.ts';
import { startTestService, type TestService } from './harness.ts';
import { anyAddress, type Answer, type HttpClient } from './http-client.ts';
import { TEST_START } from './test-clock.ts';

/** A browser on the page for buyers, which keeps cookies and follows redirects. */
export interface BuyerBrowser {
  readonly cookies: ReadonlyMap<string, string>;
  get(path: string): Promise<Answer>;
  /** Sends a form. */
  submit(path: string, fields: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends a form as its parts, with a file. */
  upload(path: string, form: FormData): Promise<Answer>;
}

export interface BrowserOptions {
  readonly language?: string;
  /** The client's address. Default: one for the browser. */
  readonly address?: string;
  /** Replaces header fields. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a browser without cookies. */
export function openBrowser(
  client: HttpClient,
  { language = 'en', address = anyAddress(), headers = {} }: BrowserOptions = {},
): BuyerBrowser {
  const cookies = new Map<string, string>();
  const common = { 'accept-language': language, 'x-forwarded-for': address };
  async function send(
    method: string,
    path: string,
    body?: URLSearchParams | FormData,
  ): Promise<Answer> {
    const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ');
    const answer = await client.send(method, path, {
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
      headers: {
        ...common,
        ...(method === 'POST' ? { 'sec-fetch-site': 'same-origin' } : {}),
        ...(cookie === '' ? {} : { cookie }),
        ...headers,
      },
    });
    keep(answer);
    const location = answer.headers.get('location');
    return location === null ? answer : send('GET', location);
  }
  function keep(answer: Answer): void {
    for (const line of answer.headers.getSetCookie()) {
      const [pair = '', age = ''] = line.split('; ');
      const [name = '', value = ''] = pair.split('=');
      assert.match(line, /; Path=\/my; HttpOnly; SameSite=Strict; Secure$/u);
      if (age === 'Max-Age=0') cookies.delete(name);
      else cookies.set(name, value);
    }
  }
  return {
    cookies,
    get: (path) => send('GET', path),
    submit: (path, fields) => send('POST', path, new URLSearchParams(fields)),
    upload: (path, form) => send('POST', path, form),
  };
}

/** Returns the heading of a page. */
export function titleOf({ text }: Answer): string {
  return /<h1>(?<title>[^<]*)<\/h1>/u.exec(text)?.groups?.['title'] ?? '';
}

/** Returns the errors of a page. */
export function errorsOf({ text }: Answer): string[] {
  return Array.from(text.matchAll(/role="alert">([^<]*)</gu), ([, error = '']) => error);
}

/** Starts a service whose mail is read by {@link BuyerService.readMail}. */
export async function startBuyerService(): Promise<BuyerService> {
  const mails: MailMessage[] = [];
  let failure: FailedResult | null = null;
  const mail: MailTransport = {
    send: async (message) => {
      mails.push(message);
      return failure ?? { outcome: 'sent', messageId: `<${message.messageToken}@example.com>` };
    },
    close: () => {},
  };
  const mailFrom = 'Example Shop <shop@example.com>';
  const service = await startTestService({ mail, mailFrom, catalog: airgapCatalog() });
  beforeEach(async () => {
    service.clock.set(TEST_START);
    mails.length = 0;
    failure = null;
    await service.pool.query('truncate jobs, buyer_codes');
  });
  return {
    ...service,
    async readMails() {
      await runQueuedJobs(service);
      return mails;
    },
    failMails(result) {
      failure = result;
    },
  };
}

/** A service with mail. */
export interface BuyerService extends TestService {
  /** Runs the queued jobs, and returns the mails of the test. */
  readMails(): Promise<readonly MailMessage[]>;
  /** Lets the relay refuse the mails of the test; null: no longer. */
  failMails(result: FailedResult | null): void;
}

/** Runs each queued job once, whatever the clock. */
async function runQueuedJobs({ context, pool }: TestService): Promise<void> {
  const { rows } = await pool.query<{ name: string; payload: unknown }>(
    'delete from jobs where name like $1 returning name, payload',
    ['send_%'],
  );
  const handlers = createJobHandlers(context);
  for (const { name, payload } of rows) {
    const handler = handlers.find((each) => each.name === name);
    assert.ok(handler !== undefined, name);
    await handler.run(payload, AbortSignal.timeout(10_000));
  }
}

/** Returns the code of a mail. */
export function codeOf(mail: MailMessage | undefined): string {
  const code = /^ {4}(?<code>[0-9A-Z]{3} [0-9A-Z]{3})$/mu.exec(mail?.text ?? '')?.groups?.['code'];
  assert.ok(code !== undefined, mail?.text ?? 'no mail');
  return code;
}

/** Signs a browser in by an address and the code of its mail. */
export async function signInByEmail(
  service: BuyerService,
  browser: BuyerBrowser,
  email: string,
): Promise<Answer> {
  await browser.submit('/my/email', { email });
  const mails = await service.readMails();
  return browser.submit('/my/code', { code: codeOf(mails.at(-1)) });
}
