/** Password hashes: argon2id of Node.js (RFC 9106), stored as PHC strings. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '@latchkey/contract';

import { invalidRequest, missingField, notPossible } from '#server/errors.ts';
import { siteOf } from '#server/lib/client-network.ts';
import { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

const deriveArgon2 = promisify(argon2);

/** The cost of a new hash, which a guesser has for each guess. */
export interface PasswordCost {
  readonly memoryKib: number;
  readonly passes: number;
}

/** 46 MiB and two passes: 88 ms of one core. OWASP recommends at least one pass with this memory. */
const COST: PasswordCost = { memoryKib: 47_104, passes: 2 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;

const PHC =
  /^\$argon2id\$v=19\$m=(?<memory>\d{1,7}),t=(?<passes>\d{1,2}),p=1\$(?<salt>[\w+/-]{8,64})\$(?<tag>[\w+/-]{16,128})$/;

/** Hashes that wait for longer than this are refused, so that a browser gets an answer. */
const QUEUE_TIMEOUT_MS = 5_000;

/** At 88 ms each, the last one waits for 3.5 seconds. */
const MAX_QUEUED = 40;

/** Running and waiting hashes of one site of strangers: ten sites are needed to fill the queue. */
const MAX_OF_STRANGERS = 4;

/** Running and waiting hashes of one site of operators, which can be an office. */
const MAX_OF_OPERATORS = 20;

/** Who causes a hash. */
export interface HashRequester {
  /** The client's IPv4 address or IPv6 /64. */
  readonly network: string;
  /** Whether the operator has a session, or signed in from the network before. */
  readonly isTrusted: boolean;
}

/**
 * Hashes and verifies passwords. A process computes at most two hashes at once, because more would take the memory and the
 * threads that licensing needs: one of strangers, and one of operators, so that no flood of strangers delays an operator. Sites
 * take turns.
 */
export class PasswordHasher {
  readonly #strangers = createLane(MAX_OF_STRANGERS);
  readonly #operators = createLane(MAX_OF_OPERATORS);
  readonly #cost: PasswordCost;
  /** Verified where there is no hash, so that it takes the same time. */
  readonly #dummyHash: string;

  /** @param cost less only for tests */
  constructor(cost: PasswordCost = COST) {
    this.#cost = cost;
    this.#dummyHash = toPhc(cost, randomBytes(SALT_BYTES), randomBytes(TAG_BYTES));
  }

  /** Hashes the new password of an operator who is authenticated. @throws overloaded (503) */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const tag = await this.#operators.run(() => derive(password, salt, this.#cost, TAG_BYTES));
    return toPhc(this.#cost, salt, tag);
  }

  /**
   * Returns whether a password has a hash. Without a hash it takes the same time, and returns false.
   * @throws overloaded (503)
   */
  async verify(
    password: string,
    phc: string | null,
    { network, isTrusted }: HashRequester,
  ): Promise<boolean> {
    const stored = parsePhc(phc ?? this.#dummyHash);
    if (stored === null) throw new Error('a stored password hash has an unknown form');
    const { cost, salt, tag: expected } = stored;
    const lane = isTrusted ? this.#operators : this.#strangers;
    const derived = await lane.runForKey(siteOf(network), () =>
      derive(password, salt, cost, expected.length),
    );
    return timingSafeEqual(derived, expected) && phc !== null;
  }

  /** Returns whether a hash has other parameters than new ones: it is replaced at the next sign-in. */
  isOutdated(phc: string): boolean {
    const { cost, tag } = parsePhc(phc) ?? {};
    const { memoryKib, passes } = this.#cost;
    return cost?.memoryKib !== memoryKib || cost.passes !== passes || tag?.length !== TAG_BYTES;
  }
}

function createLane(maxPerKey: number): ConcurrencyLimiter {
  return new ConcurrencyLimiter({
    limit: 1,
    maxQueued: MAX_QUEUED,
    maxPerKey,
    queueTimeoutMs: QUEUE_TIMEOUT_MS,
    retryAfterSeconds: 5,
  });
}

function derive(
  password: string,
  nonce: Buffer,
  { memoryKib: memory, passes }: PasswordCost,
  tagLength: number,
): Promise<Buffer> {
  // NFKC, so that the same password from another keyboard has the same bytes (NIST SP 800-63B §5.1.1.2).
  const message = password.normalize('NFKC');
  return deriveArgon2('argon2id', { message, nonce, memory, passes, parallelism: 1, tagLength });
}

function toPhc({ memoryKib, passes }: PasswordCost, salt: Buffer, tag: Buffer): string {
  const [saltText, tagText] = [salt, tag].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=1$${saltText}$${tagText}`;
}

function parsePhc(phc: string) {
  const groups = PHC.exec(phc)?.groups;
  if (groups === undefined) return null;
  const { memory, passes, salt = '', tag = '' } = groups;
  return {
    cost: { memoryKib: Number(memory), passes: Number(passes) },
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

/** @throws notPossible (409) where passwords are switched off */
export function requirePasswords({ config }: PasswordSetting): void {
  if (config.operators.passwords) return;
  throw notPossible('Signing in with a password is switched off.');
}

interface PasswordSetting {
  readonly config: { readonly operators: { readonly passwords: boolean } };
}

/**
 * Returns the password that a sign-in link sets; null where passwords are switched off.
 * @throws notPossible (409) for a password there, InvalidRequestError (422) for none elsewhere
 */
export function readLinkPassword(deps: PasswordSetting, password?: string): string | null {
  if (password === undefined && !deps.config.operators.passwords) return null;
  requirePasswords(deps);
  if (password === undefined) throw missingField('password');
  requireUsablePassword(password);
  return password;
}

/** @throws InvalidRequestError (422) for a new password that is too short or too long, in characters */
export function requireUsablePassword(password: string): void {
  const { length } = Array.from(password);
  if (length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH) return;
  const msg = `The password must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`;
  throw invalidRequest([{ loc: ['body', 'password'], msg, type: 'value_error' }]);
}
