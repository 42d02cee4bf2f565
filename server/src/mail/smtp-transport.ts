import { isIP } from 'node:net';

import { parseEmail } from '@latchkey/contract';
import type { SMTPPoolOptions } from 'nodemailer';

import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';

import { classifyFailure } from './classify-failure.ts';
import type { MailMessage, MailTransport, SendResult } from './mail-transport.ts';
import { domainOf, parseMailbox, type Mailbox } from './parse-mailbox.ts';

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
  readonly limits?: Partial<typeof defaultLimits>;
}

/** In milliseconds. */
const defaultLimits = {
  connectMs: 10_000,
  greetingMs: 10_000,
  /** Without a word from the relay. */
  silenceMs: 30_000,
  /** For a message in all; less than a job may take. */
  totalMs: 60_000,
};

/** As many messages are sent at once as jobs are done. */
const MAX_CONNECTIONS = 2;

/** The transport that is configured, or null. */
export function createMailTransport(
  { mail }: Pick<Config, 'mail'>,
  { smtpUrl, dkimPrivateKey }: Pick<Secrets, 'smtpUrl' | 'dkimPrivateKey'>,
): MailTransport | null {
  if (smtpUrl === null || mail.from === null) return null;
  const { dkim } = mail;
  return createSmtpTransport({
    url: smtpUrl,
    from: mail.from,
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
      const deadline = AbortSignal.timeout(limits.totalMs);
      const ended = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
      try {
        relay ??= openRelay(options, limits);
        const { messageId } = await (
          await relay
        ).sendMail({ ...compose(message, from), signal: ended });
        return { outcome: 'sent', messageId };
      } catch (error) {
        return toResult(error, ended);
      }
    },
    close() {
      relay?.then(
        (opened) => opened.close(),
        () => {},
      );
    },
  };
}

/** A text that is not exactly one address must not become several, or another one. */
const NO_ADDRESS: SendResult = { outcome: 'lasting', reason: 'address', answer: null };

function toResult(error: unknown, ended: AbortSignal): SendResult {
  if (!ended.aborted) return classifyFailure(error);
  return { outcome: 'temporary', reason: 'deadline', answer: null };
}

async function openRelay(options: SmtpOptions, limits: typeof defaultLimits) {
  const { createTransport } = await import('nodemailer');
  const { dkim } = options;
  return createTransport({
    ...readRelayUrl(options.url),
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    // What was under way when a connection broke may have been taken: whoever asked decides, not the pool.
    maxRequeues: 0,
    connectionTimeout: limits.connectMs,
    dnsTimeout: limits.connectMs,
    greetingTimeout: limits.greetingMs,
    socketTimeout: limits.silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(dkim === null
      ? {}
      : {
          dkim: {
            domainName: dkim.domain,
            keySelector: dkim.selector,
            privateKey: dkim.privateKey,
          },
        }),
  });
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
    // Objects, never texts that are parsed again: nodemailer reads a text as a list of recipients with names.
    from,
    to: { address, name: oneLine(name ?? '') },
    envelope: { from: { address: from.address, name: '' }, to: { address, name: '' } },
    subject: oneLine(message.subject),
    text: message.text,
    html: message.html,
    messageId: `<${message.messageToken}@${domainOf(from.address)}>`,
    headers: {
      // RFC 3834: answers of absent people go to nobody.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
    },
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim();
}
