import { once } from 'node:events';
import { request as requestPlain, type IncomingMessage, type ClientRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';

import type { Certificate } from './certificates.ts';
import { connectTo, type TestViewer } from './stream-harness.ts';

/** The domain of the proxies in tests. */
export const DOMAIN = 'monitor.test';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** How a client connects. */
export interface ClientOptions {
  /** The client's certificate. */
  readonly certificate?: Certificate | null;
  readonly minVersion?: 'TLSv1' | 'TLSv1.2' | 'TLSv1.3';
  readonly maxVersion?: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
  readonly ciphers?: string;
  /** Resumes a TLS session. */
  readonly session?: Buffer;
}

/** Requests a page of a proxy on this machine by HTTP/1.1 over TLS. */
export async function requestProxy(
  port: number,
  path: string,
  options: ClientOptions = {},
): Promise<Answer> {
  const where = { host: '127.0.0.1', port, path, agent: false, headers: { Host: DOMAIN } };
  return collect(request({ ...where, ...toTls(options) }));
}

/** Requests a page by HTTP/1.1 without TLS. */
export async function requestWithoutTls(
  port: number,
  path: string,
  domain = '127.0.0.1',
): Promise<Answer> {
  const headers = { Host: domain };
  return collect(requestPlain({ host: '127.0.0.1', port, path, agent: false, headers }));
}

/** Requests a page by HTTP/2. */
export async function requestByHttp2(
  port: number,
  path: string,
  options: ClientOptions = {},
): Promise<Answer> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, toTls(options));
  const stream = session.request({ ':path': path, ':authority': DOMAIN });
  let [status, type, text] = [0, '', ''];
  stream.on('response', (headers) => {
    status = headers[':status'] ?? 0;
    type = headers['content-type'] ?? '';
  });
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(stream.resume(), 'end');
  session.close();
  return { status, type, text };
}

/** Connects a viewer through a proxy. */
export async function connectViewer(
  port: number,
  path: string,
  options: ClientOptions = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<TestViewer> {
  const url = `wss://127.0.0.1:${port}${path}`;
  return connectTo(url, [], { ...toTls(options), headers: { Host: DOMAIN, ...headers } });
}

function toTls({ certificate, ...rest }: ClientOptions): object {
  const shown = certificate == null ? {} : { cert: certificate.cert, key: certificate.key };
  return { rejectUnauthorized: false, servername: DOMAIN, ...shown, ...rest };
}

async function collect(sent: ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    sent.once('error', reject).end();
    sent.once('response', (response: IncomingMessage) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      const type = response.headers['content-type'] ?? '';
      response.once('end', () => resolve({ status: response.statusCode ?? 0, type, text }));
    });
  });
}
