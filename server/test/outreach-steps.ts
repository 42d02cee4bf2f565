import { after } from 'node:test';

import { OutreachResponse, OutreachResult, type OutreachRequest } from '@latchkey/contract';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { CONCURRENT_MESSAGES } from '#server/features/outreach/deliver-messages.ts';
import { createSmtpTransport, type SmtpOptions } from '#server/mail/smtp-transport.ts';

import { makeKey } from './api-key-steps.ts';
import { startTestService, type TestService, type TestServiceOptions } from './harness.ts';
import type { Answer } from './http-client.ts';
import { startMailRelay, type MailRelay, type RelayScript } from './mail-relay.ts';

export const OUTREACH_PATH = '/api/v1/outreach/send';

export const MAIL_FROM = 'Example Shop <shop@example.com>';

/** A service that sends letters by a relay of its own, both in this process. */
export interface OutreachService extends OutreachSender {
  readonly relay: MailRelay;
  readonly service: TestService;
}

/** Who asks for letters. */
export interface OutreachSender {
  /** A key that is good for it. */
  readonly apiKey: string;
  /** Asks for letters with the key, unless the headers have another. */
  readonly send: (
    request: Partial<OutreachRequest>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>;
  /** The same, for an answer of 200. */
  readonly sendWell: (
    request: Partial<OutreachRequest>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<OutreachResponse>;
}

export interface OutreachSetUp {
  readonly script?: RelayScript;
  readonly smtp?: Partial<SmtpOptions>;
  readonly service?: TestServiceOptions;
}

/** Starts both; they end with the test file. */
export async function startOutreachService({
  script = {},
  smtp = {},
  service: options = {},
}: OutreachSetUp = {}): Promise<OutreachService> {
  const relay = await startMailRelay(script);
  const transport = createSmtpTransport({
    url: relay.url,
    from: MAIL_FROM,
    dkim: null,
    maxConnections: CONCURRENT_MESSAGES,
    ...smtp,
  });
  after(async () => {
    transport.close();
    await relay.close();
  });
  const service = await startTestService({
    mailFrom: MAIL_FROM,
    outreachMail: transport,
    ...options,
    outreachLimits: { retryPauseMs: 20, ...options.outreachLimits },
  });
  return { relay, service, ...(await makeSender(service)) };
}

/** Makes a key for outreach, and what asks for letters with it. */
export async function makeSender(service: TestService): Promise<OutreachSender> {
  const { apiKey } = await makeKey(service);
  const send: OutreachSender['send'] = (request, headers = {}) =>
    service.post(
      OUTREACH_PATH,
      { template: 'personal', ...request },
      { 'x-api-key': apiKey, ...headers },
    );
  return {
    apiKey,
    send,
    sendWell: async (request, headers) => {
      const answer = await send(request, headers);
      if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
      return readOutreach(answer);
    },
  };
}

/** The reference to the results is known to the service alone. */
const Answered = Type.Object({
  ...OutreachResponse.properties,
  results: Type.Array(OutreachResult),
});

export function readOutreach({ body }: Answer): OutreachResponse {
  return Parse(Answered, body);
}

/** So many recipients, each with an address and a name of its own. */
export function manyRecipients(count: number): { email: string; name: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    email: `person-${index}@example.org`,
    name: `Person ${index}`,
  }));
}

/** Why nothing was sent, recipient by recipient; null: it was. */
export function errorsOf({ results }: { readonly results: readonly OutreachResult[] }) {
  return results.map(({ error }) => error);
}
