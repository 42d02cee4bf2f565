import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { forwardTo, passOn, type Exchange, type RecordedRequest } from './exchange.ts';

/** What happens to a request instead of passing it on. */
export type Fault = (exchange: Exchange) => void | Promise<void>;

export interface FaultProxyOptions {
  /** The URL of the service behind it. */
  readonly service: string;
  /** The address for which the service counts the requests. */
  readonly clientAddress: string;
  /** The address on which it listens; default: 127.0.0.1. */
  readonly host?: string;
  /** Serves https with this certificate. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** A proxy in front of a service, which records requests and causes faults. */
export interface FaultProxy extends AsyncDisposable {
  /** Remains the same after {@link refuse}. */
  readonly url: string;
  /** Every request so far, in the order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Causes a fault for every request from now on. @param path only for matching paths; default: for all */
  breakWith(fault: Fault, path?: RegExp): void;
  /** Ends the faults: passes requests on again. */
  repair(): Promise<void>;
  /** Closes the port, so that connections are refused. */
  refuse(): Promise<void>;
}

/** Starts a proxy on a free port. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const host = options.host ?? '127.0.0.1';
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  let broken: { readonly fault: Fault; readonly path: RegExp } | null = null;

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await recordRequest(incoming);
    requests.push(request);
    const forward = () => forwardTo(options.service, request, options.clientAddress);
    if (broken?.path.test(request.path) === true)
      await broken.fault({ request, response, forward });
    else passOn(response, await forward());
  };
  const handle = (incoming: IncomingMessage, response: ServerResponse): void => {
    // The client or the service broke the connection; the client sees a closed one.
    answer(incoming, response).catch(() => response.destroy());
  };
  const server =
    options.certificate === undefined
      ? createServer(handle)
      : createTlsServer(options.certificate, handle);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  const listen = async (port: number): Promise<number> => {
    server.listen(port, host);
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
    return address.port;
  };
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };

  const port = await listen(0);
  return {
    url: `${options.certificate === undefined ? 'http' : 'https'}://${host}:${port}`,
    requests,
    breakWith(fault, path = /^/u) {
      broken = { fault, path };
    },
    async repair() {
      broken = null;
      if (!server.listening) await listen(port);
    },
    refuse: close,
    [Symbol.asyncDispose]: close,
  };
}

async function recordRequest(incoming: IncomingMessage): Promise<RecordedRequest> {
  const { method = '', url: path = '', headers } = incoming;
  return { method, path, headers, body: await buffer(incoming) };
}
