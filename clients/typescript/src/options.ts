import type { Fetch } from './calls/fetch.ts';
import type { Events } from './events/tracker.ts';
import type { Store } from './kept/store.ts';
import { readFingerprint, type Fingerprint } from './machine/fingerprint.ts';
import type { Network } from './network.ts';
import type { ReportProblem } from './problem.ts';
import type { Cryptography } from './tokens/cryptography.ts';
import { readPublicKeys, type PublicKey } from './tokens/public-keys.ts';

/** Reads the identity of this machine; null if that failed. */
export type ReadMachine = () => Fingerprint | null | Promise<Fingerprint | null>;

/** What a program passes to `open`. Everything that reaches outside can be replaced. */
export interface Options {
  /** The address of the service, such as `https://license.example.com`. */
  readonly service: string;
  /** The service's `LATCHKEY_PUBLIC_URL`, which its entitlements name; usually the same address. */
  readonly issuer: string;
  /** The ids of your products in the catalogue. */
  readonly products: readonly string[];
  /** The service's public keys: the list `keys` of its `/.well-known/jwks.json`. */
  readonly publicKeys: readonly PublicKey[];
  readonly appVersion: string;
  /** Shown to support, never compared. */
  readonly osVersion?: string;
  /** The identity of the machine, with a `machine_id`, or how to read it. Without it, a random one is created and kept. */
  readonly machine?: Fingerprint | ReadMachine;
  /** Default: memory, so that a program starts without a license each time. */
  readonly store?: Store;
  /** `events()` of `@latchkey/client/events`; default: no events. */
  readonly events?: Events;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /** Default: Web Cryptography. */
  readonly cryptography?: Cryptography;
  /** Default: the events `online` of a browser. */
  readonly network?: Network;
  /** Shown to support; default: `browser`. */
  readonly platform?: string;
  /** The clock of the device, in milliseconds since 1970. */
  readonly now?: () => number;
  /** The time for one request as a whole; default: 10,000. */
  readonly timeoutMs?: number;
  /** Receives the failures that the client works around. */
  readonly onProblem?: ReportProblem;
}

/** @throws TypeError that names all wrong options */
export function checkOptions(options: Options): void {
  const { service, issuer, products, publicKeys, appVersion, machine, timeoutMs = 1 } = options;
  const rules: Record<string, boolean> = {
    'service must be an http or https URL': isWebAddress(service),
    'issuer must be a text': isText(issuer),
    'products must list texts': isList(products) && products.length > 0 && products.every(isText),
    'publicKeys must list Ed25519 keys':
      isList(publicKeys) && readPublicKeys(publicKeys).length === publicKeys.length,
    'appVersion must be a text': isText(appVersion),
    'machine must have a machine_id':
      machine === undefined || typeof machine === 'function' || readFingerprint(machine) !== null,
    'timeoutMs must be positive': timeoutMs > 0,
  };
  const broken = Object.keys(rules).filter((rule) => rules[rule] === false);
  if (broken.length > 0) throw new TypeError(`Latchkey.open: ${broken.join('; ')}`);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isList(value: unknown): boolean {
  return Array.isArray(value);
}

function isWebAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value);
}
