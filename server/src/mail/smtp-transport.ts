import { createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';

import { parseEmail } from '@latchkey/contract';
import type { SMTPPoolOptions } from 'nodemailer';

import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';

import type { MailMessage, MailTransport, SendResult } from './mail-transport.ts';
import { makeMessageId, parseMailbox, type Mailbox } from './mailbox.ts';
import { Patience } from './send-deadline.ts';

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with user and password where the relay wants them. */
  readonly url: string;
  /** `Name <address>`, or an address alone. */
  readonly from: string;
  readonly dkim: {
    readonly domain: string;
    readonly selector: string;
    readonly privateKey: string;
  } | null;
  /** Connections that are kept, each for one message at a time. */
  readonly maxConnections?: number;
  readonly limits?: Partial<typeof defaultLimits>;
}

/** In milliseconds. */
const defaultLimits = {
  connectMs: 10_000,
  greetingMs: 10_000,
  /** Until the relay has all of a message. */
  handOverMs: 30_000,
  /**
   * From then on, until it says whether it accepts the message. RFC 5321 §4.5.3.2.6 asks for ten minutes, because whoever
   * hangs up earlier may repeat a message that was accepted; but together with the time before, a job may take no longer.
   */
  answerMs: 80_000,
};

/** As many messages are sent at once as jobs are done. */
const MAX_CONNECTIONS = 2;

/**
 * The transport that is configured, or null.
 * @param maxConnections how many messages are sent at once; the others wait in line
 */
export function createMailTransport(
  { mail }: Pick<Config, 'mail'>,
  { smtpUrl, dkimPrivateKey }: Pick<Secrets, 'smtpUrl' | 'dkimPrivateKey'>,
  maxConnections: number = MAX_CONNECTIONS,
): MailTransport | null {
  if (smtpUrl === null || mail.from === null) return null;
  const { dkim } = mail;
  return createSmtpTransport({
    url: smtpUrl,
    from: mail.from,
    maxConnections,
    dkim: dkim === null || dkimPrivateKey === null ? null : { ...dkim, privateKey: dkimPrivateKey },
  });
}

/** Sends by a relay, over connections that are kept. Nothing is loaded or connected before the first message. */
export function createSmtpTransport(options: SmtpOptions): MailTransport {
  const limits = { ...defaultLimits, ...options.limits };
  const from = parseMailbox(options.from);
  let relay: ReturnType<typeof openRelay> | undefined;

  return {
    async send(message, signal) {
      if ('fault' in parseEmail(message.to.address)) return NO_ADDRESS;
      const patience = new Patience(limits, signal);
      try {
        relay ??= openRelay(options, limits);
        const { messageId } = await (await relay).send(compose(message, from), patience);
        return { outcome: 'sent', messageId };
      } catch (error) {
        return patience.explain(error);
      } finally {
        patience.end();
      }
    },
    close() {
      relay?.then(
        (opened) => opened.close(),
        () => {
          // It never opened, which whoever sent a message was told.
        },
      );
    },
  };
}

/** A text that is not exactly one address must not turn into several, or into another one. */
const NO_ADDRESS: SendResult = { outcome: 'lasting', reason: 'address', answer: null };

/**
 * The fields that DKIM signs. Nodemailer's own list lacks the last, without which unsubscribing by one click does not work
 * (RFC 8058 §4).
 */
const SIGNED_FIELDS =
  'From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding:List-Id:List-Unsubscribe:List-Unsubscribe-Post';

/** Loads the package at the first call; later ones return the same module and read no file. */
export const loadNodemailer = () => import('nodemailer');

async function openRelay(options: SmtpOptions, limits: typeof defaultLimits) {
  const { createTransport } = await loadNodemailer();
  const { dkim } = options;
  const patienceOf = new WeakMap<AbortSignal, Patience>();
  const transport = createTransport({
    ...readRelayUrl(options.url),
    pool: true,
    maxConnections: options.maxConnections ?? MAX_CONNECTIONS,
    // A message under way when its connection broke may have been accepted: the caller decides, not the pool.
    maxRequeues: 0,
    connectionTimeout: limits.connectMs,
    dnsTimeout: limits.connectMs,
    greetingTimeout: limits.greetingMs,
    // Longer than the limits above, which are the ones to count.
    socketTimeout: limits.handOverMs + limits.answerMs + limits.connectMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(dkim === null
      ? {}
      : {
          dkim: {
            domainName: dkim.domain,
            keySelector: dkim.selector,
            // A key object: parsing PEM anew for each message would triple the time of signing (0.6 ms instead of 0.2).
            privateKey: createPrivateKey(dkim.privateKey),
            headerFieldNames: SIGNED_FIELDS,
          },
        }),
  });
  transport.use('stream', ({ message, data }, done) => {
    const patience = data.signal === undefined ? undefined : patienceOf.get(data.signal);
    const createReadStream = message.createReadStream.bind(message);
    message.createReadStream = (...given) =>
      // Its end is the final dot.
      createReadStream(...given).once('end', () => patience?.expectAnswer());
    done();
  });
  return {
    send: (mail: ReturnType<typeof compose>, patience: Patience) => {
      patienceOf.set(patience.signal, patience);
      return transport.sendMail({ ...mail, signal: patience.signal });
    },
    close: () => transport.close(),
  };
}

/** How a relay is reached. A password never travels unencrypted, except on this machine. */
export function readRelayUrl(
  text: string,
): Pick<SMTPPoolOptions, 'host' | 'port' | 'secure' | 'requireTLS' | 'auth'> {
  const url = new URL(text);
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[(?<inner>.*)\]$/u, '$<inner>');
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port);
  if (url.username === '') return { host, port, secure };
  return {
    host,
    port,
    secure,
    requireTLS: !secure && !isLoopback(host),
    auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function compose(message: MailMessage, from: Mailbox) {
  const { address, name } = message.to;
  return {
    // Objects, never texts: nodemailer would parse a text as a list of recipients with names.
    from,
    to: { address, name: oneLine(name ?? '') },
    envelope: { from: { address: from.address, name: '' }, to: { address, name: '' } },
    subject: oneLine(message.subject),
    text: message.text,
    html: message.html,
    messageId: makeMessageId(message.messageToken, from.address),
    headers: {
      // RFC 3834: keeps automatic replies, such as those of absent people, away.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...message.headers,
    },
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim();
}
