import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** An accepted message. */
export interface RelayedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body as received. */
  readonly raw: string;
}

/** The answers of the relay; default: it accepts every message. */
export interface RelayScript {
  /** To `MAIL FROM`. */
  sender?: RelayAnswer;
  /** To `RCPT TO`. */
  recipient?: RelayAnswer;
  /** To individual recipients. */
  forRecipient?: (address: string) => RelayScript | undefined;
  /** After the message. */
  message?: RelayAnswer;
  /** To the login; default: no login is offered. */
  login?: 'accept' | RelayAnswer;
  /** Stops responding after `MAIL FROM`. */
  silentAfterSender?: boolean;
  /** Closes the connection after the message. */
  hangUp?: boolean;
  /** The delay before the message is confirmed, in milliseconds. */
  slowMs?: number;
  /** Accepts messages only after this. */
  held?: Promise<void>;
}

export interface RelayAnswer {
  readonly code: number;
  readonly words: string;
}

/** An SMTP relay in this process; changes of `script` apply at once. */
export interface MailRelay {
  readonly url: string;
  readonly port: number;
  readonly mails: readonly RelayedMail[];
  /** The number of connections. */
  readonly connections: number;
  script: RelayScript;
  close(): Promise<void>;
}

/** Starts a relay on a free port of the loopback interface. */
export async function startMailRelay(script: RelayScript = {}): Promise<MailRelay> {
  const mails: RelayedMail[] = [];
  const sockets = new Set<Socket>();
  const hang = () => sockets.forEach((socket) => socket.destroy());
  const state = { script, connections: 0, hang };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', ...(script.login === undefined ? ['AUTH'] : [])],
    authOptional: script.login === undefined,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    closeTimeout: 100,
    ...answering(state, mails),
  });
  server.on('error', () => {});
  server.server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const port = portOf(server.server.address());
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    mails,
    get connections() {
      return state.connections;
    },
    get script() {
      return state.script;
    },
    set script(next) {
      state.script = next;
    },
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      await promise;
    },
  };
}

function answering(
  state: { script: RelayScript; connections: number; hang: () => void },
  mails: RelayedMail[],
): Pick<SMTPServerOptions, 'onConnect' | 'onAuth' | 'onMailFrom' | 'onRcptTo' | 'onData'> {
  return {
    onConnect(_session, done) {
      state.connections += 1;
      done();
    },
    onAuth({ username }, _session, done) {
      const { login } = state.script;
      if (login === 'accept') done(null, { user: username });
      else done(toError(login) ?? new Error('no login'));
    },
    onMailFrom(_address, _session, done) {
      if (state.script.silentAfterSender !== true) done(toError(state.script.sender));
    },
    onRcptTo: ({ address }, _session, done) => {
      done(toError(scriptFor(state.script, [address]).recipient));
    },
    onData(stream, { envelope }, done) {
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
      const to = envelope.rcptTo.map(({ address }) => address);
      const asked = { script: scriptFor(state.script, to) };
      void takeMessage(asked, stream, done, state.hang, (raw) => mails.push({ from, to, raw }));
    },
  };
}

async function takeMessage(
  state: { readonly script: RelayScript },
  stream: Readable,
  done: (error?: Error | null) => void,
  hang: () => void,
  keep: (raw: string) => void,
): Promise<void> {
  const raw = await text(stream).catch(() => null);
  // The sender was killed within its message and reads no answer.
  if (raw === null) return;
  const { hangUp = false, held, slowMs = 0, message } = state.script;
  await held;
  if (hangUp) {
    hang();
    return;
  }
  if (message === undefined) keep(raw);
  await sleep(slowMs);
  done(toError(message));
}

function scriptFor(script: RelayScript, [address = '']: readonly string[]): RelayScript {
  return script.forRecipient?.(address) ?? script;
}

function toError(answer: RelayAnswer | undefined): Error | null {
  if (answer === undefined) return null;
  return Object.assign(new Error(answer.words), { responseCode: answer.code });
}

function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');
  return address.port;
}

/** Returns the unfolded value of a header; null without it. */
export function readHeader({ raw }: RelayedMail, name: string): string | null {
  const [head = ''] = raw.split('\r\n\r\n', 1);
  const lines = head.replaceAll(/\r\n[ \t]+/gu, ' ').split('\r\n');
  const found = lines.find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  return found?.slice(name.length + 1).trim() ?? null;
}

/** Returns the decoded parts of a message. */
export function readParts({ raw }: Pick<RelayedMail, 'raw'>): string {
  const boundary = /boundary="(?<name>[^"]+)"/u.exec(raw)?.groups?.['name'];
  if (boundary === undefined) return raw;
  return raw
    .split(`--${boundary}`)
    .slice(1)
    .map((part) => {
      const [head = '', ...body] = part.split('\r\n\r\n');
      const encoded = body.join('\r\n\r\n');
      if (/base64/iu.test(head)) return Buffer.from(encoded, 'base64').toString('utf8');
      return /quoted-printable/iu.test(head) ? decodeQuotedPrintable(encoded) : encoded;
    })
    .join('\n');
}

function decodeQuotedPrintable(encoded: string): string {
  const bytes = encoded
    .replaceAll('=\r\n', '')
    .replaceAll(/=(?<hex>[\dA-F]{2})/gu, (_, hex: string) =>
      String.fromCodePoint(Number.parseInt(hex, 16)),
    );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
