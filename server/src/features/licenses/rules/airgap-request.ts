import { hash } from 'node:crypto';

/** A request for the activation of a machine without a connection, as the software on that machine created it. */
export interface AirgapRequest {
  /** The product's id in the catalogue. */
  readonly product: string;
  /** As in an activation. */
  readonly machineFingerprint: Readonly<Record<string, unknown>>;
  /** Random; the entitlement repeats it, so that the software accepts only the answer to its own request. */
  readonly nonce: string;
  /** What the owner calls the machine; null: no name. */
  readonly machineName: string | null;
}

/**
 * Why a text is no request: `missing`: it contains none; `damaged`: it is cut or changed; `version`: its version is
 * unknown; `content`: its fields are invalid.
 */
export type AirgapRequestProblem = 'missing' | 'damaged' | 'version' | 'content';

/** A request that was read from a text, or why there is none. */
export type AirgapRequestReading =
  | { readonly ok: true; readonly request: AirgapRequest }
  | { readonly ok: false; readonly problem: AirgapRequestProblem };

const VERSION = '1';

/** 60 bits of the SHA-256 of all before it, in base64url: no accidental change has the same. */
const CHECK_CHARACTERS = 10;

const MAX_NAME_CHARACTERS = 60;

function checkOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, CHECK_CHARACTERS);
}

/**
 * Reads the request in a text: `LKR1.<base64url of JSON>.<check>`. Spaces, line breaks and quotation marks of mail (`>`) are ignored, and so is text around the
 * request, because people copy too much.
 */
export function readAirgapRequest(text: string): AirgapRequestReading {
  const compact = text.replaceAll(/[\s>\u200B\uFEFF]/gu, '');
  const start = compact.search(/LKR\d+\./u);
  if (start === -1) return { ok: false, problem: 'missing' };
  const { version, signed = '', payload, check } = readParts(compact.slice(start));
  if (version !== undefined && version !== VERSION) return { ok: false, problem: 'version' };
  if (payload === undefined || check !== checkOf(signed)) return { ok: false, problem: 'damaged' };
  const request = readContent(payload);
  return request === null ? { ok: false, problem: 'content' } : { ok: true, request };
}

const PARTS = /^(?<signed>LKR(?<version>\d+)\.(?<payload>[\w-]+))\.(?<check>[\w-]{10})/u;

interface Parts {
  readonly version?: string;
  readonly signed?: string;
  readonly payload?: string;
  readonly check?: string;
}

function readParts(text: string): Parts {
  return PARTS.exec(text)?.groups ?? /^LKR(?<version>\d+)/u.exec(text)?.groups ?? {};
}

function readContent(payload: string): AirgapRequest | null {
  const content = parseObject(Buffer.from(payload, 'base64url').toString('utf8'));
  if (content === null) return null;
  const { product, machine_fingerprint: fingerprint, nonce, name = null } = content;
  const isValid =
    isText(product, /^[a-z0-9][a-z0-9_-]{0,63}$/u) &&
    isText(nonce, /^[\w-]{16,64}$/u) &&
    isObject(fingerprint) &&
    (name === null || typeof name === 'string');
  if (!isValid) return null;
  return { product, machineFingerprint: fingerprint, nonce, machineName: readName(name) };
}

/** Cut, and without control characters, because people read it. */
function readName(name: string | null): string | null {
  const text = (name ?? '').replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' ').trim();
  return text === '' ? null : Array.from(text).slice(0, MAX_NAME_CHARACTERS).join('');
}

function parseObject(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : null;
  } catch {
    // The check is right, so that the software did not write JSON.
    return null;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}
