import { isIP, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';

import { Connection } from 'pg';

import { codeOf } from '#server/lib/unknown-values.ts';

import { chooseFailure, type Failure } from './choose-failure.ts';
import { ChannelBindingError, TlsUnsupportedError } from './tls-failures.ts';
import type { Attempt, TlsPlan } from './tls-plan.ts';

declare module 'pg' {
  interface Connection {
    /** Parses the server's messages and emits them. */
    attachListeners(stream: Duplex): void;
  }
}

/** SSLRequest (PostgreSQL, "Message Formats"). */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f]);

/** Fields of the driver. */
const CONNECTING = '_connecting';
const ENDING = '_ending';

/** The name of PostgreSQL's protocol in ALPN, which `sslnegotiation=direct` requires. */
const PROTOCOL = 'postgresql';

const BOUND_MECHANISM = 'SCRAM-SHA-256-PLUS';

interface Target {
  /** A number, or the path of a Unix socket. */
  readonly port: number | string;
  readonly host: string | undefined;
}

/**
 * A connection that uses TLS as libpq does. The driver knows only "TLS or nothing": it gives up when the server has no TLS,
 * and never tries the other way. To the driver's client this is a connection without TLS.
 */
export class LibpqConnection extends Connection {
  readonly #plan: TlsPlan;
  #target: Target = { port: 0, host: undefined };
  /** Those that remain. */
  #attempts: readonly Attempt[] = [];
  #failure: Failure | null = null;
  #isEncrypted = false;
  #isHandshaking = false;
  #isAuthenticated = false;
  /** Whether the server proved with its certificate that it knows the password. */
  #isBound = false;

  constructor(plan: TlsPlan) {
    super({ ssl: false });
    this.#plan = plan;
  }

  /** Called by the driver: with a port and a host, or with the path of a socket. */
  connect(port: number | string, host?: string): void {
    // The driver then ends the connection with a message.
    Object.assign(this, { [CONNECTING]: true });
    this.#target = { port, host };
    this.#attempts = host === undefined ? ['plain'] : this.#plan.attempts;
    this.#dial();
  }

  #dial(): void {
    const [attempt = 'plain', ...others] = this.#attempts;
    this.#attempts = others;
    this.#isEncrypted = false;
    const socket = new Socket();
    this.#use(socket);
    socket.setNoDelay(true);
    socket.once('connect', () => {
      if (attempt === 'plain') this.#greet(socket);
      else if (this.#plan.negotiation === 'direct') this.#encrypt(socket);
      else this.#requestTls(socket);
    });
    const { port, host } = this.#target;
    if (typeof port === 'string') socket.connect(port);
    else socket.connect(port, host ?? '');
  }

  /** Makes a stream the connection's own; events of the one before are ignored from now on. */
  #use(stream: Duplex): void {
    Object.assign(this, { stream });
    stream.on('error', (error) => {
      if (this.stream === stream) this.#onStreamError(error);
    });
    stream.on('close', () => {
      if (this.stream === stream) this.emit('end');
    });
  }

  #onStreamError(error: Error): void {
    // The driver ignores them, too, when it disconnects.
    if (this.#isEnding() && ['ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '')) return;
    if (this.#isHandshaking) this.#fail('error', error);
    else super.emit('error', error);
  }

  #requestTls(socket: Socket): void {
    socket.write(TLS_REQUEST);
    socket.once('data', (response) => {
      // More than one byte would be unencrypted data that the client takes for encrypted (CVE-2021-23222).
      const answer = response.toString('latin1');
      if (answer === 'S') this.#encrypt(socket);
      else if (answer === 'N') this.#goOnWithoutTls(socket);
      else {
        socket.destroy();
        const reason = 'the server did not answer the request for TLS';
        super.emit('error', new Error(`Connection terminated: ${reason}`));
      }
    });
  }

  #goOnWithoutTls(socket: Socket): void {
    const [next, ...others] = this.#attempts;
    this.#attempts = others;
    if (next === 'plain') return this.#greet(socket);
    socket.destroy();
    this.#isEncrypted = true;
    this.#fail('error', new TlsUnsupportedError());
  }

  #encrypt(socket: Socket): void {
    const { context, negotiation, verification } = this.#plan;
    const host = this.#target.host ?? '';
    this.#isEncrypted = true;
    this.#isHandshaking = true;
    const stream = connectTls({
      socket,
      host,
      // RFC 6066 §3: no addresses.
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(context === null ? {} : { secureContext: context }),
      ...(negotiation === 'direct' ? { ALPNProtocols: [PROTOCOL] } : {}),
      ...(verification === 'host' ? {} : { checkServerIdentity: () => undefined }),
      rejectUnauthorized: verification !== 'none',
    });
    this.#use(stream);
    stream.once('secureConnect', () => {
      this.#isHandshaking = false;
      if (negotiation !== 'direct' || stream.alpnProtocol === PROTOCOL) return this.#greet(stream);
      stream.destroy(new TlsUnsupportedError());
    });
  }

  /** Whether the driver closes the connection, also at its limit of time. */
  #isEnding(): boolean {
    return Reflect.get(this, ENDING) === true;
  }

  /** Lets the driver send its first message. */
  #greet(stream: Duplex): void {
    this.attachListeners(stream);
    super.emit('connect');
  }

  /** Tries the other way, if there is one; else reports the failure that explains more. */
  #fail(event: Failure['event'], error: unknown): void {
    this.#isHandshaking = false;
    const failure = { event, error, isEncrypted: this.#isEncrypted };
    if (this.#attempts.length === 0 || this.#isEnding()) {
      const chosen = chooseFailure(this.#failure, failure);
      super.emit(chosen.event, chosen.error);
      return;
    }
    this.#failure = failure;
    const { stream } = this;
    stream.removeAllListeners('data');
    this.#dial();
    stream.destroy();
  }

  /** Messages of the server pass through here until it has accepted the user. */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (this.#isAuthenticated) return super.emit(event, ...args);
    if (event === 'errorMessage') {
      this.#fail(event, args[0]);
      return true;
    }
    if (this.#plan.channelBinding === 'require' && !this.#isBindingKept(event, args[0])) {
      this.stream.destroy();
      return super.emit('error', new ChannelBindingError());
    }
    if (event === 'authenticationOk') this.#isAuthenticated = true;
    return super.emit(event, ...args);
  }

  /** Whether a message leads to, or ends, an authentication with channel binding. */
  #isBindingKept(event: string | symbol, message: unknown): boolean {
    switch (event) {
      case 'authenticationCleartextPassword':
      case 'authenticationMD5Password':
        return false;
      case 'authenticationSASL':
        return this.#isEncrypted && offersBinding(message);
      case 'authenticationSASLFinal':
        this.#isBound = true;
        return true;
      case 'authenticationOk':
        return this.#isBound;
      default:
        return true;
    }
  }
}

function offersBinding(message: unknown): boolean {
  const mechanisms: unknown =
    typeof message === 'object' && message !== null ? Reflect.get(message, 'mechanisms') : null;
  return Array.isArray(mechanisms) && mechanisms.includes(BOUND_MECHANISM);
}
