/** Password hashes: argon2id of Node.js (RFC 9106), stored as PHC strings. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '@latchkey/contract';

import { invalidRequest } from '#server/errors.ts';
import { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

const deriveArgon2 = promisify(argon2);

/** 46 MiB and two passes: 88 ms of one core. OWASP recommends at least one pass with this memory. */
const MEMORY_KIB = 47_104;
const PASSES = 2;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

const PHC =
  /^\$argon2id\$v=19\$m=(?<memory>\d{1,7}),t=(?<passes>\d{1,2}),p=1\$(?<salt>[\w+/-]{8,64})\$(?<tag>[\w+/-]{16,128})$/;

/** Limits hashes of a process: more at once would take the memory and the threads that licensing needs. */
const CONCURRENT = 2;
const MAX_QUEUED = 20;
const QUEUE_TIMEOUT_MS = 5_000;

/** Hashes and verifies passwords, a few at the same time. */
export class PasswordHasher {
  readonly #limiter = new ConcurrencyLimiter({
    limit: CONCURRENT,
    maxQueued: MAX_QUEUED,
    queueTimeoutMs: QUEUE_TIMEOUT_MS,
    retryAfterSeconds: 5,
  });
  readonly #nobody: string;

  constructor() {
    this.#nobody = toPhc(MEMORY_KIB, PASSES, randomBytes(SALT_BYTES), randomBytes(TAG_BYTES));
  }

  /** Hashes a password. @throws overloaded (503) */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const tag = await this.#derive(password, salt, MEMORY_KIB, PASSES, TAG_BYTES);
    return toPhc(MEMORY_KIB, PASSES, salt, tag);
  }

  /**
   * Returns whether a password has a hash. Without a hash it takes the same time, and returns false.
   * @throws overloaded (503)
   */
  async verify(password: string, phc: string | null): Promise<boolean> {
    const { memory, passes, salt = '', tag = '' } = PHC.exec(phc ?? this.#nobody)?.groups ?? {};
    const expected = Buffer.from(tag, 'base64');
    if (expected.length === 0) throw new Error('a stored password hash has an unknown form');
    const saltBytes = Buffer.from(salt, 'base64');
    const derived = await this.#derive(
      password,
      saltBytes,
      Number(memory),
      Number(passes),
      expected.length,
    );
    return timingSafeEqual(derived, expected) && phc !== null;
  }

  #derive(
    password: string,
    nonce: Buffer,
    memory: number,
    passes: number,
    tagLength: number,
  ): Promise<Buffer> {
    // NFKC, so that the same password from another keyboard has the same bytes (NIST SP 800-63B §5.1.1.2).
    const message = password.normalize('NFKC');
    return this.#limiter.run(() =>
      deriveArgon2('argon2id', { message, nonce, memory, passes, parallelism: 1, tagLength }),
    );
  }
}

function toPhc(memory: number, passes: number, salt: Buffer, tag: Buffer): string {
  const [saltText, tagText] = [salt, tag].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  return `$argon2id$v=19$m=${memory},t=${passes},p=1$${saltText}$${tagText}`;
}

/** @throws InvalidRequestError (422) for a new password that is too short or too long, in characters */
export function requireUsablePassword(password: string): void {
  const { length } = Array.from(password);
  if (length >= MIN_PASSWORD_LENGTH && length <= MAX_PASSWORD_LENGTH) return;
  const msg = `The password must have ${MIN_PASSWORD_LENGTH} to ${MAX_PASSWORD_LENGTH} characters`;
  throw invalidRequest([{ loc: ['body', 'password'], msg, type: 'value_error' }]);
}
