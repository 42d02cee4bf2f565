import { createPrivateKey } from 'node:crypto';

import { parseEmail } from '@latchkey/contract';

import type { Config } from '#server/config/config.ts';
import type { Secrets } from '#server/config/secrets.ts';

import type { MailMessage, MailTransport, SendResult } from './mail-transport.ts';
import { formatMessageId, parseMailbox, type Mailbox } from './mailbox.ts';
import { checkRelay, loadNodemailer, parseRelayUrl } from './relay.ts';
import { SendDeadline } from './send-deadline.ts';

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with user and password where the relay requires them. */
  readonly url: string;
  /** `Name <address>`, or an address alone. */
  readonly from: string;
  readonly dkim: {
    readonly domain: string;
    readonly selector: string;
    readonly privateKey: string;
  } | null;
  /** The maximum number of open connections, each for one message at a time. */
  readonly maxConnections?: number;
  readonly limits?: Partial<typeof defaultLimits>;
}

/** In milliseconds. */
const defaultLimits = {
  connectMs: 10_000,
  greetingMs: 10_000,
  transferMs: 30_000,
  /**
   * RFC 5321 §4.5.3.2.6 recommends ten minutes, because a client that disconnects earlier may repeat a message that was
   * accepted. But the transfer and the reply together must fit into the time limit of a job.
   */
  replyMs: 80_000,
};

/** As many as jobs that run at the same time. */
const DEFAULT_MAX_CONNECTIONS = 2;

/**
 * Creates the configured transport, or returns null.
 * @param maxConnections messages that are sent at the same time; the others wait
 */
export function createMailTransport(
  { mail }: Pick<Config, 'mail'>,
  { smtpUrl, dkimPrivateKey }: Pick<Secrets, 'smtpUrl' | 'dkimPrivateKey'>,
  maxConnections: number = DEFAULT_MAX_CONNECTIONS,
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

/** Creates a transport over pooled connections to a relay. Loads and connects at the first message. */
export function createSmtpTransport(options: SmtpOptions): MailTransport {
  const limits = { ...defaultLimits, ...options.limits };
  const from = parseMailbox(options.from);
  let relay: ReturnType<typeof openRelay> | undefined;

  return {
    async send(message, signal) {
      if ('fault' in parseEmail(message.to.address)) return INVALID_ADDRESS;
      const deadline = new SendDeadline(limits, signal);
      try {
        relay ??= openRelay(options, limits);
        const { messageId } = await (await relay).send(toNodemailer(message, from), deadline);
        return { outcome: 'sent', messageId };
      } catch (error) {
        return deadline.classify(error);
      } finally {
        deadline.clear();
      }
    },
    check: () => checkRelay(options.url),
    close() {
      relay?.then(
        (opened) => opened.close(),
        () => {
          // It was never opened; each send returned that failure.
        },
      );
    },
  };
}

/** Rejects everything but exactly one address: nodemailer would split or reinterpret it. */
const INVALID_ADDRESS: SendResult = { outcome: 'permanent', reason: 'address', reply: null };

/**
 * The header fields that DKIM signs. Nodemailer's default lacks List-Unsubscribe-Post, without which one-click
 * unsubscription does not work (RFC 8058 §4).
 */
const SIGNED_FIELDS =
  'From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:Content-Transfer-Encoding:List-Id:List-Unsubscribe:List-Unsubscribe-Post';

async function openRelay(options: SmtpOptions, limits: typeof defaultLimits) {
  const { createTransport } = await loadNodemailer();
  const { dkim } = options;
  const deadlines = new WeakMap<AbortSignal, SendDeadline>();
  const transport = createTransport({
    ...parseRelayUrl(options.url),
    pool: true,
    maxConnections: options.maxConnections ?? DEFAULT_MAX_CONNECTIONS,
    // The relay may have accepted a message whose connection broke: the caller decides about a retry.
    maxRequeues: 0,
    connectionTimeout: limits.connectMs,
    dnsTimeout: limits.connectMs,
    greetingTimeout: limits.greetingMs,
    // Longer than SendDeadline, which must expire first.
    socketTimeout: limits.transferMs + limits.replyMs + limits.connectMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(dkim === null
      ? {}
      : {
          dkim: {
            domainName: dkim.domain,
            keySelector: dkim.selector,
            // A key object: parsing the PEM for each message would triple the time of signing (0.6 ms instead of 0.2).
            privateKey: createPrivateKey(dkim.privateKey),
            headerFieldNames: SIGNED_FIELDS,
          },
        }),
  });
  transport.use('stream', ({ message, data }, done) => {
    const deadline = data.signal === undefined ? undefined : deadlines.get(data.signal);
    const createReadStream = message.createReadStream.bind(message);
    message.createReadStream = (...given) =>
      // The stream ends with the final dot of DATA.
      createReadStream(...given).once('end', () => deadline?.startReplyTimeout());
    done();
  });
  return {
    send: (mail: ReturnType<typeof toNodemailer>, deadline: SendDeadline) => {
      deadlines.set(deadline.signal, deadline);
      return transport.sendMail({ ...mail, signal: deadline.signal });
    },
    close: () => transport.close(),
  };
}

function toNodemailer(message: MailMessage, from: Mailbox) {
  const { address, name } = message.to;
  return {
    // Objects, because nodemailer would parse a text as a list of recipients with names.
    from,
    to: { address, name: toOneLine(name ?? '') },
    envelope: { from: { address: from.address, name: '' }, to: { address, name: '' } },
    subject: toOneLine(message.subject),
    text: message.text,
    html: message.html,
    messageId: formatMessageId(message.messageToken, from.address),
    headers: {
      // RFC 3834: prevents automatic replies, such as out-of-office notices.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...message.headers,
    },
  };
}

function toOneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ').trim();
}
