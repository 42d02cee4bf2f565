/** Requests to the operator interface with the session's cookie. */
import { signal } from '@preact/signals';

import { ApiError, readApiError, unreachable } from './api-error.ts';
import { readAtMost } from './read-at-most.ts';
import { noteServiceTime } from './service-clock.ts';

/** Whether the last request got an answer; the shell shows a banner while it is false. */
export const isReachable = signal(true);

/** How the operator signs in again, or proves freshness, without leaving the page. Both return whether it succeeded. */
interface ApiHooks {
  readonly askToSignIn: () => Promise<boolean>;
  readonly askForProof: () => Promise<boolean>;
}

let hooks: ApiHooks = { askToSignIn: async () => false, askForProof: async () => false };

/** Sets how the operator is asked. */
export function setApiHooks(next: ApiHooks): void {
  hooks = next;
}

/** Reads a resource. @throws ApiError */
export function apiGet<Body>(path: string, stop?: AbortSignal): Promise<Body> {
  return send<Body>('GET', path, undefined, stop);
}

/**
 * Sends a change. If it needs a fresh proof, the operator is asked for it, and the change is sent again.
 * @throws ApiError
 */
export function apiPost<Body>(path: string, body: object = {}): Promise<Body> {
  return send<Body>('POST', path, body);
}

/**
 * Reads a file, such as an export.
 * @param body of an operation that is a POST; undefined: a GET
 * @throws ApiError
 */
export function apiFile(path: string, body?: object): Promise<DownloadedFile> {
  return askAndRepeat(async () => {
    const response = await request(body === undefined ? 'GET' : 'POST', path, body);
    if (!response.ok) throw toError(response, await readJson<unknown>(response));
    const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '');
    return { name: name?.[1] ?? 'export', content: await readFile(response) };
  });
}

/** A file of the service. */
export interface DownloadedFile {
  readonly name: string;
  readonly content: Blob;
}

/**
 * The largest file, which the browser holds until it is complete. A download by navigation would need no limit, but a refused one
 * would leave the page, and a broken one would store what had arrived.
 */
const MAX_FILE_BYTES = 500_000_000;

async function readFile({ body }: Response): Promise<Blob> {
  const content = await readAtMost(body, MAX_FILE_BYTES).catch(() => {
    throw unreachable();
  });
  if (content !== null) return content;
  const advice = 'Filter the list, or download it with an API key and a program such as curl.';
  throw new ApiError('too_large', 0, `The file is larger than 500 MB. ${advice}`);
}

function send<Body>(
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  stop?: AbortSignal,
): Promise<Body> {
  return askAndRepeat(() => sendOnce<Body>(method, path, body, stop));
}

/** Asks the operator for what a refused request lacks, and sends it again. */
async function askAndRepeat<Result>(attempt: () => Promise<Result>): Promise<Result> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!(await askOperator(error.code))) throw error;
    return attempt();
  }
}

/** Asks for what a refused request lacks; false if nothing helps. */
async function askOperator(code: string): Promise<boolean> {
  if (code === 'not_signed_in') return hooks.askToSignIn();
  if (code === 'fresh_proof_required') return hooks.askForProof();
  return false;
}

/** Sends a request of signing in: it neither ends the session nor asks for a proof. @throws ApiError */
export async function sendOnce<Body>(
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  stop: AbortSignal | null = null,
): Promise<Body> {
  const response = await request(method, path, body, stop);
  const content = await readJson<Body>(response);
  if (!response.ok || content === undefined) throw toError(response, content);
  isReachable.value = true;
  return content;
}

function toError(response: Response, content: unknown): ApiError {
  const error = readApiError(response.status, content, response.headers.get('retry-after'));
  isReachable.value = error.code !== 'unreachable';
  return error;
}

async function request(
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  stop: AbortSignal | null = null,
): Promise<Response> {
  const response = await fetch(path, {
    method,
    signal: stop,
    credentials: 'same-origin',
    cache: 'no-store',
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    if (stop?.aborted === true) throw error;
    isReachable.value = false;
    throw unreachable();
  });
  noteServiceTime(response.headers.get('date'));
  return response;
}

/**
 * Returns the JSON of an answer; undefined for anything else, such as the page of a proxy. Its type is not checked: it is from
 * the contract, with which the service serialises its answers.
 */
async function readJson<Body>(response: Response): Promise<Body | undefined> {
  if (!/\bjson\b/.test(response.headers.get('content-type') ?? '')) return undefined;
  try {
    return await response.json();
  } catch {
    // Truncated: handled like another type.
    return undefined;
  }
}
