import { after } from 'node:test';

import { OutreachResponse, OutreachResult, type OutreachRequest } from '@latchkey/contract';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { CONCURRENT_MESSAGES } from '#server/features/outreach/deliver-messages.ts';
import { createSmtpTransport, type SmtpOptions } from '#server/mail/smtp-transport.ts';

import { createKey } from './api-key-steps.ts';
import { startTestService, type TestService, type TestServiceOptions } from './harness.ts';
import type { Answer } from './http-client.ts';
import { startMailRelay, type MailRelay, type RelayScript } from './mail-relay.ts';

export const OUTREACH_PATH = '/api/v1/outreach/send';

export const MAIL_FROM = 'Example Shop <shop@example.com>';

/** A service that sends outreach through its own relay, both in this process. */
export interface OutreachService extends OutreachSender {
  readonly relay: MailRelay;
  readonly service: TestService;
}

/** A client that sends outreach requests. */
export interface OutreachSender {
  /** A valid API key. */
  readonly apiKey: string;
  /** Sends an outreach request with the key, unless the headers have another. */
  readonly send: (
    request: Partial<OutreachRequest>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>;
  /** Sends a request that must be answered with 200. */
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
  return { relay, service, ...(await createSender(service)) };
}

/** Creates a key for outreach and a client with it. */
export async function createSender(service: TestService): Promise<OutreachSender> {
  const { apiKey } = await createKey(service);
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

/** Only the service knows the reference to the results. */
const Answered = Type.Object({
  ...OutreachResponse.properties,
  results: Type.Array(OutreachResult),
});

export function readOutreach({ body }: Answer): OutreachResponse {
  return Parse(Answered, body);
}

/** Returns different recipients. */
export function manyRecipients(count: number): { email: string; name: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    email: `person-${index}@example.org`,
    name: `Person ${index}`,
  }));
}

/** Returns the error of each recipient; null: sent. */
export function errorsOf({ results }: { readonly results: readonly OutreachResult[] }) {
  return results.map(({ error }) => error);
}
