import type { Logger } from 'pino';

import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { Vault } from '#server/lib/vault.ts';

import type { OperatorDependencies } from './manage.ts';
import type { PasswordHasher } from './passwords.ts';
import type { SignInLimiter } from './sign-in-limiter.ts';

/** The dependencies of signing in and of sessions. */
export interface SessionDependencies extends OperatorDependencies {
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly log: Logger;
  readonly passwords: PasswordHasher;
  readonly signIns: SignInLimiter;
  readonly vault: Vault;
}

/** Where a request comes from. */
export interface Client {
  /** The client's IPv4 address or IPv6 /64. */
  readonly network: string;
  readonly userAgent: string;
}
