import type { LicenseStatus } from '../../licenses/rules/status.ts';

/** The facts of a license's status that its sentence contains; dates are formatted. */
export interface StatusFacts {
  readonly isTrial: boolean;
  readonly isSubscription: boolean;
  /** Whether the subscription ends at the end of the paid period. */
  readonly isCancelScheduled: boolean;
  /** When it ends or ended; null: never. */
  readonly end: string | null;
}

/** The status of a license in a sentence, and what its owner can do; null: nothing is needed. */
export interface StatusText {
  readonly sentence: string;
  readonly advice: string | null;
}

/** A longer wait is stated in hours. */
export const LONGEST_IN_MINUTES = 120;

/** The texts of the pages in one language. */
export interface BuyerTexts {
  readonly title: string;
  readonly intro: string;
  readonly keyDoor: {
    readonly heading: string;
    readonly label: string;
    readonly hint: string;
    readonly button: string;
  };
  readonly emailDoor: BuyerTexts['keyDoor'];
  readonly code: {
    readonly title: string;
    readonly sent: string;
    readonly late: string;
    readonly label: string;
    readonly button: string;
    readonly again: string;
  };
  readonly errors: {
    /** The title of a page that shows an error: what a screen reader reads first. */
    readonly title: (title: string) => string;
    readonly key: string;
    readonly address: string;
    readonly codeWrong: (triesLeft: number) => string;
    readonly codeOver: string;
    readonly codeLimit: (minutes: number) => string;
    readonly tooMany: (minutes: number) => string;
    readonly signedOut: string;
    readonly notFound: string;
    readonly otherOrigin: string;
    readonly https: string;
    readonly noMail: string;
    readonly tooLarge: string;
  };
  readonly status: Readonly<Record<LicenseStatus, (facts: StatusFacts) => StatusText>>;
  readonly list: {
    readonly none: string;
    readonly more: (count: number) => string;
    readonly machines: (active: number, max: number) => string;
    readonly keyEnds: (hint: string) => string;
    readonly open: string;
    readonly sendKeys: string;
    readonly sendKeysHint: string;
    readonly keysSent: string;
    readonly noKeys: string;
    readonly signOut: string;
    readonly back: string;
  };
  readonly license: {
    /** @param end a day */
    readonly updates: (end: string) => string;
    /** After the end of updates. @param end a day */
    readonly updatesOver: (end: string) => string;
    readonly machines: string;
    readonly none: string;
    readonly unused: string;
    readonly lastSeen: string;
    readonly version: string;
    readonly system: string;
    readonly since: string;
    readonly offlineUntil: string;
    readonly free: string;
    readonly freed: (machine: string) => string;
    readonly freedNotice: string;
    readonly deactivated: (count: number) => string;
    readonly deactivatedOn: string;
    readonly moves: (left: number, days: number) => string;
    readonly portal: string;
    readonly renew: string;
    readonly upgrade: string;
    readonly page: (page: number, pages: number) => string;
    readonly pages: string;
    readonly newer: string;
    readonly older: string;
    readonly oldest: string;
    readonly contact: (address: string) => string;
  };
  readonly freeing: {
    readonly title: string;
    readonly effect: (days: number) => string;
    readonly noMoves: (days: number) => string;
    readonly mailed: string;
    readonly button: string;
    readonly cancel: string;
    readonly already: string;
    readonly airgapped: (until: string) => string;
    readonly limit: (limit: number, days: number, from: string) => string;
  };
  readonly airgap: {
    readonly link: string;
    readonly title: string;
    readonly about: (days: number) => string;
    readonly steps: readonly string[];
    /** Of a request whose code was scanned, before the sign-in and after. */
    readonly received: string;
    readonly choose: string;
    readonly none: string;
    readonly use: string;
    readonly label: string;
    readonly file: string;
    readonly button: string;
    readonly done: string;
    readonly doneAbout: (machine: string | null) => string;
    readonly validUntil: (until: string) => string;
    readonly renew: string;
    readonly textLabel: string;
    readonly fileLink: string;
    readonly codeLabel: string;
    readonly errors: {
      readonly missing: string;
      readonly damaged: string;
      readonly version: string;
      readonly content: string;
      readonly machine: string;
      readonly product: string;
      readonly full: (max: number) => string;
      readonly moves: (from: string) => string;
    };
  };
}
