import type { SuppressionReasonName } from '@latchkey/contract';

import type { Language } from '@latchkey/contract';

/** The stored facts of a newsletter subscriber. `rules/subscription.ts` derives the state from them. */
export interface SubscriberFacts {
  readonly id: string;
  /** Null when the address was erased and then entered again. */
  readonly email: string | null;
  readonly language: Language | null;
  readonly firstSubscribedAt: Date;
  /** The newest request. */
  readonly subscribedAt: Date;
  readonly confirmedAt: Date | null;
  readonly optIn: OptIn | null;
  readonly confirmationMailedAt: Date | null;
  /** Why the newest confirmation e-mail was not sent: `smtp_550`, `mailbox_limit`. */
  readonly confirmationProblem: string | null;
  readonly suppression: SuppressionFacts | null;
}

/** `double`: confirmed from the mailbox; `single`: accepted without confirmation. */
export type OptIn = 'double' | 'single';

export interface SuppressionFacts {
  readonly reason: SuppressionReasonName;
  /** The newest time at which that was requested. */
  readonly suppressedAt: Date;
}

/** A confirmation link. */
export interface ConfirmationFacts {
  /** The time of the subscription request that the link confirms. */
  readonly requestedAt: Date;
  readonly expiresAt: Date;
}

/** The confirmation e-mails that were sent to an address. */
export interface ConfirmationMails {
  /** In the last 24 hours. */
  readonly today: number;
  readonly last: { readonly mailedAt: Date; readonly requestedAt: Date } | null;
}
