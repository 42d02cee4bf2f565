import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';

import { WebSocketServer } from 'ws';

import type { Clock } from '../clock.ts';
import { findCertificateFault, findExpiry } from '../tls/client-certificate.ts';
import type { TlsMaterial } from '../tls/tls-files.ts';
import { type AddressReports, ConnectionLimits, toVisitor, ViewerLimits } from './limits.ts';
import {
  type Admission,
  type AdmissionRules,
  chooseSubprotocol,
  decideAdmission,
  judgeIdentity,
  readOffer,
  type Visitor,
} from './admission.ts';
import { answerRequest, refuse } from './http-answers.ts';
import type { Hub } from './hub.ts';
import { identifyPeer, type Peer } from './identify-peer.ts';
import { FAREWELL_MS, GOING_AWAY, POLICY_VIOLATION, SocketViewer } from './socket-viewer.ts';
import { listenForTrouble } from './connection-errors.ts';

/** Visitors have this long for a handshake, and again for a request. */
const HANDSHAKE_MS = 10_000;
/** A proxy adds a certificate to what browsers send: of RSA with 4,096 bits, URL-encoded, some 3 kB. */
const MAX_HEADER_BYTES = 16 * 1024;
/** Viewers have nothing to say. */
const WEB_SOCKET_LIMITS = { maxPayload: 1024, maxFragments: 16, closeTimeout: FAREWELL_MS };
const TOO_MANY = 'Connections were refused: too many from one address.';
/** How long viewers may take to leave when the agent stops. */
const LEAVE_MS = 1000;

/** What a server is made of. */
export interface StreamServerOptions {
  readonly hub: Hub;
  readonly clock: Clock;
  readonly reports: AddressReports;
  readonly tls: TlsMaterial;
  /** Asked for each visitor, since tokens change. */
  readonly readRules: () => Omit<AdmissionRules, 'needsCertificate'>;
  /** Ends handshakes without a good certificate by TLS alone, before a reason can be told. */
  readonly refusesInHandshake: boolean;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Whether the agent listens on a loopback address, where a proxy connects. */
  readonly isBehindProxy: boolean;
  /** Shorter in tests. */
  readonly handshakeMs?: number;
}

interface Watching {
  readonly viewer: SocketViewer;
  readonly peer: Peer;
  /** What the viewer said of itself, to be judged again. */
  readonly visitor: Visitor;
}

/** The one port of the agent: the stream by WebSocket over TLS, the live page, and `/health`. */
export class StreamServer {
  readonly #options: StreamServerOptions;
  readonly #server: Server;
  readonly #webSockets: WebSocketServer;
  readonly #connections = new Set<Socket>();
  readonly #watching = new Set<Watching>();
  readonly #viewerLimits: ViewerLimits;
  #tls: TlsMaterial;

  constructor(options: StreamServerOptions) {
    this.#options = options;
    this.#tls = options.tls;
    this.#viewerLimits = new ViewerLimits(options.maxConnectionsPerAddress);
    this.#server = createServer(toServerOptions(options), (request, response) => {
      const { address } = this.#identify(request, request.socket);
      answerRequest(
        request,
        response,
        (asking) => this.#judge(asking, asking.socket).refusal,
      ).catch((error: unknown) => {
        this.#report(address, error instanceof Error ? error.message : String(error));
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
    this.#listenForVisitors();
    listenForTrouble(this.#server, (address, problem) => this.#report(address, problem));
  }

  /**
   * Opens the port.
   * @param port 0: a free one
   */
  async listen(host: string, port: number): Promise<AddressInfo> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new TypeError('It has no port.');
    return address;
  }

  /** From now on handshakes are done by these; viewers whose certificate or token is no longer good are sent away. */
  setTls(tls: TlsMaterial): void {
    this.#server.setSecureContext(tls.context);
    this.#tls = tls;
    const rules = this.#readRules();
    this.#dismiss(({ peer: { certificates }, visitor }) =>
      certificates.length === 0
        ? (judgeIdentity(visitor, rules)?.text ?? null)
        : findFirst(certificates, (each) => this.#findFault(each)),
    );
  }

  /** Sends viewers away whose certificate has expired while they watched. */
  checkViewers(): void {
    const now = this.#options.clock.now();
    this.#dismiss(({ peer: { certificates } }) =>
      findFirst(certificates, (each) => findExpiry(each, now)),
    );
  }

  /** Says goodbye to the viewers and closes the port. */
  async close(): Promise<void> {
    for (const { viewer } of this.#watching) viewer.close(GOING_AWAY, 'The agent stops.');
    this.#server.close();
    this.#server.closeAllConnections();
    const timer = setTimeout(() => this.#cutConnections(), LEAVE_MS);
    if (this.#connections.size > 0) await once(this.#server, 'close');
    clearTimeout(timer);
  }

  #listenForVisitors(): void {
    const { reports, maxConnectionsPerAddress } = this.#options;
    const limits = new ConnectionLimits(maxConnectionsPerAddress, (visitor) =>
      reports.report(visitor, TOO_MANY),
    );
    this.#server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
      limits.add(socket);
    });
    this.#server.on('drop', (data) => {
      this.#report(data?.remoteAddress, 'Connections were refused: there are max_connections.');
    });
    this.#server.on('upgrade', (request, socket, head) => this.#receive(request, socket, head));
    this.#webSockets.on('wsClientError', (error, socket, request) => {
      const { address } = this.#identify(request, socket);
      this.#report(address, 'A request was refused: it is no request for a WebSocket.');
      refuse(socket, 400, `This is no request for a WebSocket: ${error.message}.`);
    });
  }

  #receive(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Without a listener, a connection that breaks would end the program.
    socket.on('error', () => socket.destroy());
    const { refusal, subprotocol, peer, visitor } = this.#judge(request, socket);
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
        onFault: (problem) => this.#report(peer.address, problem),
      });
      this.#welcome({ viewer, peer, visitor }, webSocket);
    });
  }

  /** @returns what releases the viewer; null for one too many, which is refused */
  #countViewer({ isProxied, address }: Peer, socket: Duplex): (() => void) | null {
    const release = isProxied ? this.#viewerLimits.add(address) : () => undefined;
    if (release === null) {
      this.#report(address, TOO_MANY);
      refuse(socket, 429, 'Too many viewers connect from this address.');
    }
    return release;
  }

  /** Whether somebody may watch, by what came with a request; a refusal is logged. */
  #judge(request: IncomingMessage, socket: Duplex): Admission & Omit<Watching, 'viewer'> {
    const peer = this.#identify(request, socket);
    const { authorization, origin, host } = request.headers;
    const offer = readOffer(request.headers['sec-websocket-protocol']);
    const visitor = { authorization, origin, host, offer, certificateFault: peer.certificateFault };
    const admission = decideAdmission(visitor, this.#readRules());
    if (admission.refusal !== null) {
      this.#report(peer.address, `A viewer was refused: ${admission.refusal.text}`);
    }
    return { ...admission, peer, visitor };
  }

  #readRules(): AdmissionRules {
    return { ...this.#options.readRules(), needsCertificate: this.#tls.clients !== null };
  }

  #welcome(watching: Watching, webSocket: { once(event: 'close', on: () => void): unknown }): void {
    const { viewer } = watching;
    this.#watching.add(watching);
    webSocket.once('close', () => {
      this.#watching.delete(watching);
      this.#options.hub.remove(viewer);
    });
    this.#options.hub.add(viewer);
  }

  #identify(request: IncomingMessage, socket: Duplex): Peer {
    const { clock, isBehindProxy } = this.#options;
    const { clients } = this.#tls;
    return identifyPeer(request.headers, socket, { clients, isBehindProxy, now: clock.now() });
  }

  #dismiss(findFault: (watching: Watching) => string | null): void {
    for (const watching of this.#watching) {
      const fault = findFault(watching);
      if (fault !== null) watching.viewer.close(POLICY_VIOLATION, fault);
    }
  }

  #findFault(certificate: X509Certificate): string | null {
    const { clients } = this.#tls;
    if (clients === null) return null;
    return findCertificateFault(certificate, clients, this.#options.clock.now());
  }

  #report(address: string | undefined, problem: string): void {
    this.#options.reports.report(toVisitor(address), problem);
  }

  #cutConnections(): void {
    for (const socket of this.#connections) socket.destroy();
  }
}

/** The first fault of several certificates. */
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
