import { AwsV4Signer } from 'aws4fetch';

import { messageOf } from '#server/lib/unknown-values.ts';

import { ArchiveError } from './archive-error.ts';

/** The access to an object storage, from the variables that the tools of AWS read. */
export interface S3Access {
  /** For example https://s3.eu-central-1.amazonaws.com */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * Reads the access from environment variables.
 * @throws ArchiveError without credentials, and for an invalid endpoint
 */
export function readS3Access(env: NodeJS.ProcessEnv): S3Access {
  const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1';
  const endpoint =
    env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL'] ?? `https://s3.${region}.amazonaws.com`;
  const accessKeyId = env['AWS_ACCESS_KEY_ID'] ?? '';
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'] ?? '';
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new ArchiveError('Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for an s3:// archive.');
  }
  if (!/^https?:$/u.test(URL.parse(endpoint)?.protocol ?? '')) {
    throw new ArchiveError(`AWS_ENDPOINT_URL is not an http or https URL: ${endpoint}`);
  }
  const sessionToken = env['AWS_SESSION_TOKEN'];
  return {
    endpoint: endpoint.replace(/(?<!\/)\/+$/u, ''),
    region,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT';
  /** Bucket and key. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Blob;
  /** The SHA-256 of the body in hexadecimal digits. */
  readonly bodyHash?: string;
}

/** A slow connection uploads a gigabyte in an hour. */
const UPLOAD_TIMEOUT_MS = 60 * 60_000;

/** Other requests transfer a row group at most. */
const TIMEOUT_MS = 60_000;

const TRIES = 4;
const RETRY_STEP_MS = 500;

/** 409: another request writes the object at this moment. */
function isTemporary(status: number): boolean {
  return status >= 500 || status === 429 || status === 409;
}

const EMPTY_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Sends signed requests to an S3-compatible object storage, and repeats those that failed temporarily. */
export class S3Client {
  readonly #access: S3Access;

  constructor(access: S3Access) {
    this.#access = access;
  }

  /**
   * Sends a request.
   * @returns the response if it is a success or has one of the expected statuses
   * @throws ArchiveError
   */
  async send(request: S3Request, expected: readonly number[] = []): Promise<Response> {
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#try(request);
      if (outcome instanceof Response) {
        if (outcome.ok || expected.includes(outcome.status)) return outcome;
        const failure = await this.#explain(request, outcome);
        if (tries === TRIES || !isTemporary(outcome.status)) throw failure;
      } else if (tries === TRIES) {
        throw outcome;
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_STEP_MS * 2 ** tries));
    }
  }

  async #try(request: S3Request): Promise<Response | ArchiveError> {
    const { method, body, query = {} } = request;
    const path = request.path.split('/').map(encodeSegment).join('/');
    const url = new URL(`${this.#access.endpoint}/${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      ...this.#access,
      method,
      url: url.href,
      service: 's3',
      headers: { ...request.headers, 'x-amz-content-sha256': request.bodyHash ?? EMPTY_HASH },
    });
    const { headers } = await signer.sign();
    try {
      return await fetch(url, {
        method,
        headers,
        signal: AbortSignal.timeout(method === 'PUT' ? UPLOAD_TIMEOUT_MS : TIMEOUT_MS),
        redirect: 'manual',
        ...(body === undefined ? {} : { body }),
      });
    } catch (error) {
      const cause = error instanceof TypeError ? error.cause : error;
      const message = `${this.#access.endpoint} cannot be reached (${messageOf(cause)}).`;
      return new ArchiveError(message, { cause: error });
    }
  }

  async #explain({ path }: S3Request, response: Response): Promise<ArchiveError> {
    const body = await response.text().catch(() => '');
    const code = /<Code>(?<code>[^<]{1,100})<\/Code>/u.exec(body)?.groups?.['code'] ?? '';
    const { endpoint, region } = this.#access;
    const answer = `${response.status} ${code}`.trimEnd();
    if (code === 'NoSuchBucket') {
      return new ArchiveError(`The bucket of s3://${path} does not exist at ${endpoint}.`);
    }
    if (response.status === 403) {
      return new ArchiveError(
        `${endpoint} refuses access to s3://${path} (${answer}): check the credentials, AWS_REGION (${region}) and the permissions.`,
      );
    }
    if (response.status >= 300 && response.status < 400) {
      return new ArchiveError(
        `The bucket of s3://${path} is in another region than ${region} (${answer}): set AWS_REGION.`,
      );
    }
    return new ArchiveError(`${endpoint} failed at s3://${path} (${answer}).`);
  }
}

/** Encodes all characters that a signature encodes; some storages do not encode the path again (RFC 3986, section 2.3). */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll(
    /[!'()*]/gu,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
