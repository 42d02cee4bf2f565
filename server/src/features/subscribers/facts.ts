import type { PageLanguage } from '#server/pages/page-language.ts';

/** What is known of who asked for news. Whether he gets them is decided from it, see `rules/`. */
export interface SubscriberFacts {
  readonly id: string;
  /** Null when it was erased before, and asked for again. */
  readonly email: string | null;
  readonly language: PageLanguage | null;
  readonly firstSubscribedAt: Date;
  /** When it was last asked for. */
  readonly subscribedAt: Date;
  readonly confirmedAt: Date | null;
  readonly optIn: OptIn | null;
  readonly confirmationMailedAt: Date | null;
  /** Why the last mail that asks for a confirmation did not go out: `smtp_550`. */
  readonly confirmationProblem: string | null;
  readonly suppression: SuppressionFacts | null;
}

/** Confirmed from the mailbox, or taken at its word. */
export type OptIn = 'double' | 'single';

/** Why an address gets no mail, and when that was last said. */
export interface SuppressionFacts {
  readonly reason: string;
  readonly suppressedAt: Date;
}

/** What the link in a mail stands for. */
export interface ConfirmationFacts {
  /** When was asked for what it confirms. */
  readonly requestedAt: Date;
  readonly expiresAt: Date;
}

/** Which mails that ask for a confirmation an address got. */
export interface ConfirmationMails {
  /** In the last day. */
  readonly today: number;
  readonly last: { readonly mailedAt: Date; readonly requestedAt: Date } | null;
}
