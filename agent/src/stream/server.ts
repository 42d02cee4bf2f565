import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';

import { WebSocketServer } from 'ws';

import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import { findCertificateFault, findExpiry } from '../tls/client-certificate.ts';
import type { TlsMaterial } from '../tls/tls-files.ts';
import { type AddressReports, ClientLimit, limitConnections, type ReportClient } from './limits.ts';
import {
  type Admission,
  type AdmissionRules,
  chooseSubprotocol,
  checkIdentity,
  checkOrigin,
  decideAdmission,
  isListedOrigin,
  readOffer,
  type Credentials,
} from './admission.ts';
import { answerRequest, refuse } from './http-answers.ts';
import type { Hub } from './hub.ts';
import { MetricsAnswers } from './metrics-answer.ts';
import { identifyPeer, type Peer } from './identify-peer.ts';
import { CLOSE_DEADLINE_MS, GOING_AWAY, POLICY_VIOLATION, SocketViewer } from './socket-viewer.ts';
import { reportConnectionErrors } from './connection-errors.ts';

/** The time limit of a handshake, and of a request. */
const HANDSHAKE_MS = 10_000;
/** The maximum size of headers: those of a browser, and the certificate that a proxy adds (3 kB for RSA with 4,096 bits, URL-encoded). */
const MAX_HEADER_BYTES = 16 * 1024;
/** Viewers send nothing but control frames. */
const WEB_SOCKET_LIMITS = { maxPayload: 1024, maxFragments: 16, closeTimeout: CLOSE_DEADLINE_MS };
const TOO_MANY = 'too many from this address (limits.connections_per_address)';
/** How long viewers may take to close when the agent stops. */
const CLOSE_TIMEOUT_MS = 1000;

/** Dependencies and settings of the server. */
export interface StreamServerOptions {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly reports: AddressReports;
  readonly tls: TlsMaterial;
  /** Called for each client, since tokens may be reloaded. */
  readonly readRules: () => Omit<AdmissionRules, 'needsCertificate'>;
  /** Rejects clients without a valid certificate in the TLS handshake, without a readable reason. */
  readonly refusesInHandshake: boolean;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Whether the agent listens on a loopback address, where a proxy connects. */
  readonly isBehindProxy: boolean;
  /** Shorter in tests. */
  readonly handshakeMs?: number;
}

interface Session {
  readonly viewer: SocketViewer;
  readonly peer: Peer;
  /** The credentials of the viewer, to be checked again after a reload. */
  readonly credentials: Credentials;
}

/** The server on the agent's port: the stream by WebSocket over TLS, the pages, `/metrics` and `/health`. */
export class StreamServer {
  readonly #options: StreamServerOptions;
  readonly #report: ReportClient;
  readonly #server: Server;
  readonly #webSockets: WebSocketServer;
  readonly #metrics: MetricsAnswers;
  readonly #connections = new Set<Socket>();
  readonly #sessions = new Set<Session>();
  readonly #viewerLimit: ClientLimit;
  #tls: TlsMaterial;

  constructor(options: StreamServerOptions) {
    this.#options = options;
    this.#report = options.reports.report;
    this.#tls = options.tls;
    this.#metrics = new MetricsAnswers(options.hub);
    this.#viewerLimit = new ClientLimit(options.maxConnectionsPerAddress);
    this.#server = createServer(toServerOptions(options), (request, response) => {
      const { address } = this.#identify(request, request.socket);
      void answerRequest(request, response, {
        findRefusal: (each) => this.#admit(each, each.socket).refusal,
        isListedOrigin: (origin) => isListedOrigin(origin, this.#readRules()),
        sendMetrics: async (...each) => this.#metrics.answer(...each),
        onFailure: (event, error) => this.#report(address, event, messageOf(error)),
      });
    });
    this.#server.maxConnections = options.maxConnections;
    this.#webSockets = new WebSocketServer({
      ...WEB_SOCKET_LIMITS,
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      autoPong: false,
      handleProtocols: (offer) => chooseSubprotocol(offer) ?? false,
    });
    this.#listenForClients();
    reportConnectionErrors(this.#server, this.#report);
  }

  /**
   * Opens the port.
   * @param port 0: a free one
   */
  async listen(host: string, port: number): Promise<AddressInfo> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string')
      throw new TypeError('The server has no port.');
    return address;
  }

  /** Uses this TLS material from now on, and closes viewers whose certificate, token or origin is no longer valid. */
  setTls(tls: TlsMaterial): void {
    this.#server.setSecureContext(tls.context);
    this.#tls = tls;
    const rules = this.#readRules();
    this.#closeWhere(({ peer: { certificates }, credentials }) => {
      const refusal =
        checkOrigin(credentials, rules) ??
        (certificates.length === 0 ? checkIdentity(credentials, rules) : null);
      return refusal?.text ?? findFirst(certificates, (each) => this.#findFault(each));
    });
  }

  /** Closes viewers whose certificate has expired. */
  checkViewers(): void {
    const now = this.#options.clock.now();
    this.#closeWhere(({ peer: { certificates } }) =>
      findFirst(certificates, (each) => findExpiry(each, now)),
    );
  }

  /** Closes the viewers and the port. */
  async close(): Promise<void> {
    for (const { viewer } of this.#sessions) viewer.close(GOING_AWAY, 'The agent stops.');
    this.#server.close();
    this.#server.closeAllConnections();
    const timer = setTimeout(() => this.#cutConnections(), CLOSE_TIMEOUT_MS);
    if (this.#connections.size > 0) await once(this.#server, 'close');
    clearTimeout(timer);
  }

  #listenForClients(): void {
    const { maxConnectionsPerAddress } = this.#options;
    const limit = limitConnections(maxConnectionsPerAddress, (address) =>
      this.#report(address, 'stream.connection_refused', TOO_MANY),
    );
    this.#server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
      limit(socket);
    });
    this.#server.on('drop', (data) => {
      const reason = 'too many in total (limits.connections)';
      this.#report(data?.remoteAddress, 'stream.connection_refused', reason);
    });
    this.#server.on('upgrade', (request, socket, head) =>
      this.#handleUpgrade(request, socket, head),
    );
    this.#webSockets.on('wsClientError', (error, socket, request) => {
      const { address } = this.#identify(request, socket);
      this.#report(address, 'stream.request_refused', 'it is not a WebSocket request');
      refuse(socket, 400, `This is not a WebSocket request: ${error.message}.`);
    });
  }

  #handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Without a listener, a connection error would end the process.
    socket.on('error', () => socket.destroy());
    const { refusal, subprotocol, peer, credentials } = this.#admit(request, socket);
    if (refusal !== null) {
      refuse(socket, refusal.status, refusal.text);
      return;
    }
    const release = this.#countViewer(peer, socket);
    if (release === null) return;
    socket.once('close', release);
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const viewer = new SocketViewer(webSocket, socket, {
        subprotocol,
        clock: this.#options.clock,
        onFault: (reason) => this.#report(peer.address, 'stream.viewer_dropped', reason),
      });
      this.#start({ viewer, peer, credentials }, webSocket);
    });
  }

  /** @returns a function that releases the slot; null beyond the limit, after refusing the viewer */
  #countViewer({ isProxied, address }: Peer, socket: Duplex): (() => void) | null {
    const release = isProxied ? this.#viewerLimit.acquire(address) : () => undefined;
    if (release === null) {
      this.#report(address, 'stream.connection_refused', TOO_MANY);
      refuse(socket, 429, 'Too many viewers connect from this address.');
    }
    return release;
  }

  /** Decides whether the client of a request may watch, and logs a refusal. */
  #admit(request: IncomingMessage, socket: Duplex): Admission & Omit<Session, 'viewer'> {
    const peer = this.#identify(request, socket);
    const { authorization, origin, host } = request.headers;
    const offer = readOffer(request.headers['sec-websocket-protocol']);
    const credentials = {
      authorization,
      origin,
      host,
      offer,
      certificateFault: peer.certificateFault,
    };
    const admission = decideAdmission(credentials, this.#readRules());
    if (admission.refusal !== null) {
      this.#report(peer.address, 'stream.viewer_refused', admission.refusal.text);
    }
    return { ...admission, peer, credentials };
  }

  #readRules(): AdmissionRules {
    return { ...this.#options.readRules(), needsCertificate: this.#tls.clients !== null };
  }

  #start(session: Session, webSocket: { once(event: 'close', on: () => void): unknown }): void {
    const { viewer } = session;
    this.#sessions.add(session);
    webSocket.once('close', () => {
      this.#sessions.delete(session);
      this.#options.hub.remove(viewer);
    });
    this.#options.hub.add(viewer);
  }

  #identify(request: IncomingMessage, socket: Duplex): Peer {
    const { clock, isBehindProxy } = this.#options;
    const { clients } = this.#tls;
    return identifyPeer(request.headers, socket, { clients, isBehindProxy, now: clock.now() });
  }

  #closeWhere(findFault: (session: Session) => string | null): void {
    for (const session of this.#sessions) {
      const fault = findFault(session);
      if (fault !== null) session.viewer.close(POLICY_VIOLATION, fault);
    }
  }

  #findFault(certificate: X509Certificate): string | null {
    const { clients } = this.#tls;
    if (clients === null) return null;
    return findCertificateFault(certificate, clients, this.#options.clock.now());
  }

  #cutConnections(): void {
    for (const socket of this.#connections) socket.destroy();
  }
}

/** Returns the first fault of several certificates. */
function findFirst(
  certificates: readonly X509Certificate[],
  findFault: (certificate: X509Certificate) => string | null,
): string | null {
  for (const each of certificates) {
    const fault = findFault(each);
    if (fault !== null) return fault;
  }
  return null;
}

function toServerOptions(options: StreamServerOptions) {
  const { handshakeMs = HANDSHAKE_MS, tls, refusesInHandshake } = options;
  return {
    ...tls.context,
    requestCert: tls.clients !== null,
    rejectUnauthorized: refusesInHandshake,
    handshakeTimeout: handshakeMs,
    headersTimeout: handshakeMs,
    requestTimeout: handshakeMs,
    connectionsCheckingInterval: Math.min(handshakeMs, 5000),
    keepAliveTimeout: 5000,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
}
