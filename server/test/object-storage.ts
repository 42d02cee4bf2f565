import { createHash, createHmac, timingSafeEqual, type Hash, type Hmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { after } from 'node:test';

import { SignatureV4 } from '@smithy/signature-v4';

/** The credentials that the server accepts. */
export const STORAGE_CREDENTIALS = {
  accessKeyId: 'test-access-key',
  secretAccessKey: 'test secret/key+',
};

export const STORAGE_REGION = 'eu-test-1';

/** A request that the server received. */
interface StorageRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** An S3-compatible server in memory, with one bucket. */
export interface ObjectStorage {
  readonly url: string;
  /** The variables for the command line. */
  readonly env: Readonly<Record<string, string>>;
  /** The objects by key. */
  readonly objects: Map<string, Buffer>;
  readonly requests: readonly StorageRequest[];
  /** Answers a request instead of the server, unless it returns null. */
  intercept: (request: StorageRequest) => readonly [status: number, code: string] | null;
}

/**
 * Starts an S3-compatible server with the bucket `archive`, until the tests of the file end. It verifies the signature of each
 * request with the signer of AWS's own SDK, and the checksums of bodies.
 */
export async function openObjectStorage(): Promise<ObjectStorage> {
  const objects = new Map<string, Buffer>();
  const requests: StorageRequest[] = [];
  const server = createServer((request, response) => {
    void serve(request, response);
  });
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const received = await receive(request);
    requests.push(received);
    const refused = storage.intercept(received) ?? (await refuse(received));
    if (refused !== null) sendError(response, ...refused);
    else answer(response, objects, received);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const url = `http://127.0.0.1:${address.port}`;
  const storage: ObjectStorage = {
    url,
    env: {
      AWS_ENDPOINT_URL: url,
      AWS_REGION: STORAGE_REGION,
      AWS_ACCESS_KEY_ID: STORAGE_CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: STORAGE_CREDENTIALS.secretAccessKey,
    },
    objects,
    requests,
    intercept: () => null,
  };
  return storage;
}

async function receive(request: IncomingMessage): Promise<StorageRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const headers = Object.entries(request.headersDistinct).map(
    ([name, values = []]) => [name, values.join(',')] as const,
  );
  return {
    method: request.method ?? '',
    url: new URL(request.url ?? '', `http://${request.headers.host}`),
    headers: Object.fromEntries(headers),
    body: Buffer.concat(chunks),
  };
}

type Refusal = readonly [status: number, code: string];

/** Returns why a request is refused, or null. */
async function refuse(request: StorageRequest): Promise<Refusal | null> {
  const { body, headers, url } = request;
  if (!(await isSigned(request))) return [403, 'SignatureDoesNotMatch'];
  const digest = createHash('sha256').update(body).digest();
  if (headers['x-amz-content-sha256'] !== digest.toString('hex')) {
    return [400, 'XAmzContentSHA256Mismatch'];
  }
  const checksum = headers['x-amz-checksum-sha256'] ?? digest.toString('base64');
  if (checksum !== digest.toString('base64')) return [400, 'BadDigest'];
  return url.pathname.split('/')[1] === 'archive' ? null : [404, 'NoSuchBucket'];
}

class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    if (secret === undefined) this.#hash = createHash('sha256');
    else if (typeof secret === 'string') this.#hash = createHmac('sha256', secret);
    else if (ArrayBuffer.isView(secret)) {
      const { buffer, byteLength, byteOffset } = secret;
      this.#hash = createHmac('sha256', Buffer.from(buffer, byteOffset, byteLength));
    } else this.#hash = createHmac('sha256', Buffer.from(secret));
  }

  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {}
}

/** Signs the request again, with the headers that the client signed, and compares. */
async function isSigned({ body, headers, method, url }: StorageRequest): Promise<boolean> {
  const authorization = headers['authorization'] ?? '';
  const names = /SignedHeaders=(?<names>[^,]+)/u.exec(authorization)?.groups?.['names'] ?? '';
  const signed = Object.fromEntries(names.split(';').map((name) => [name, headers[name] ?? '']));
  const date = (headers['x-amz-date'] ?? '').replace(
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/u,
    '$1-$2-$3T$4:$5:$6Z',
  );
  const signer = new SignatureV4({
    credentials: STORAGE_CREDENTIALS,
    region: STORAGE_REGION,
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  });
  const again = await signer.sign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: signed,
      body,
    },
    { signingDate: new Date(date) },
  );
  const [actual, expected] = [authorization, again.headers['authorization'] ?? ''];
  return (
    actual.length === expected.length && timingSafeEqual(Buffer.from(actual), Buffer.from(expected))
  );
}

function etagOf(object: Buffer): string {
  return `"${createHash('md5').update(object).digest('hex')}"`;
}

/** Returns why a conditional request is refused (RFC 9110, section 13.2), or null. */
function refuseVersion(headers: StorageRequest['headers'], object?: Buffer): Refusal | null {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (noneMatch === '*' && object !== undefined) return [412, 'PreconditionFailed'];
  if (match === undefined || object === undefined) return null;
  return match === etagOf(object) ? null : [412, 'PreconditionFailed'];
}

function sendError(response: ServerResponse, status: number, code: string): void {
  response.statusCode = status;
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&#x3E;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (character) => ENTITIES[character] ?? '');
}

/** Keys in a page of a list. */
const PAGE_KEYS = 2;

function answer(
  response: ServerResponse,
  objects: Map<string, Buffer>,
  { body, headers, method, url }: StorageRequest,
): void {
  const key = decodeURIComponent(url.pathname.split('/').slice(2).join('/'));
  if (key === '') return sendList(response, objects, url.searchParams);
  const object = objects.get(key);
  const refused = refuseVersion(headers, object);
  if (refused !== null) return sendError(response, ...refused);
  if (method === 'PUT') {
    objects.set(key, body);
    return void response.end();
  }
  if (object === undefined) return sendError(response, 404, 'NoSuchKey');
  const range = /^bytes=(?<from>\d+)-(?<to>\d+)$/u.exec(headers['range'] ?? '')?.groups;
  const bytes = range ? object.subarray(Number(range['from']), Number(range['to']) + 1) : object;
  response.statusCode = range ? 206 : 200;
  response.setHeader('content-length', bytes.length);
  response.setHeader('etag', etagOf(object));
  response.end(method === 'HEAD' ? undefined : bytes);
}

function sendList(
  response: ServerResponse,
  objects: Map<string, Buffer>,
  query: URLSearchParams,
): void {
  const [prefix, start] = [query.get('prefix') ?? '', query.get('start-after') ?? ''];
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(prefix) && key > start)
    .toSorted();
  const contents = keys
    .slice(0, PAGE_KEYS)
    .map((key) => `<Contents><Key>${escapeXml(key)}</Key></Contents>`);
  response.end(
    `<ListBucketResult><IsTruncated>${keys.length > PAGE_KEYS}</IsTruncated>${contents.join('')}</ListBucketResult>`,
  );
}
