import { once } from 'node:events';
import { request as requestPlain, type IncomingMessage, type ClientRequest } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';

import type { Certificate } from './certificates.ts';
import { connectTo, type TestViewer } from './stream-harness.ts';

/** The domain that the proxies of tests answer for. */
export const DOMAIN = 'monitor.test';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** How a question is asked. */
export interface Manner {
  /** Shown as the client's. */
  readonly certificate?: Certificate | null;
  readonly minVersion?: 'TLSv1' | 'TLSv1.2' | 'TLSv1.3';
  readonly maxVersion?: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
  readonly ciphers?: string;
  /** Resumes a TLS session. */
  readonly session?: Buffer;
}

/** Asks a proxy of this machine by HTTP/1.1 over TLS. */
export async function askProxy(port: number, path: string, manner: Manner = {}): Promise<Answer> {
  const where = { host: '127.0.0.1', port, path, agent: false, headers: { Host: DOMAIN } };
  return collect(request({ ...where, ...toTls(manner) }));
}

/** Asks by HTTP/1.1 without TLS. */
export async function askPlain(port: number, path: string, domain = '127.0.0.1'): Promise<Answer> {
  const headers = { Host: domain };
  return collect(requestPlain({ host: '127.0.0.1', port, path, agent: false, headers }));
}

/** Asks by HTTP/2. */
export async function askByHttp2(port: number, path: string, manner: Manner = {}): Promise<Answer> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, toTls(manner));
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
export async function watchProxy(
  port: number,
  path: string,
  manner: Manner = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<TestViewer> {
  const url = `wss://127.0.0.1:${port}${path}`;
  return connectTo(url, [], { ...toTls(manner), headers: { Host: DOMAIN, ...headers } });
}

function toTls({ certificate, ...rest }: Manner): object {
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
