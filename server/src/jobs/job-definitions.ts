import { Type, type Static, type TObject } from 'typebox';

/** What is known of a kind of job before it runs. */
export interface JobDefinition {
  /** What it takes; held against it when the job is added and again when it is run. No secrets: it is stored as it is. */
  readonly payload: TObject;
  /** Which of the jobs that are due comes first: the lowest number. 0 is for what is of no hurry. */
  readonly priority: number;
  /** Adds the next one of its kind itself, however it ends; so a failure is told at once, and not tried again. */
  readonly followsItself?: boolean;
}

/** Somebody waits for it. */
const URGENT = -10;

/** Nobody waits for it. */
const UNHURRIED = 0;

/** At most as long as the identifiers that the providers' events carry. */
const Identifier = Type.String({ minLength: 1, maxLength: 200 });

/** Every kind of job. One that is taken out of here stays undone in the database, and `latchkey jobs list` shows it. */
export const jobDefinitions = {
  /** Sends the buyer of a transaction the keys of its licenses, once. */
  send_key_email: {
    payload: Type.Object({ provider: Identifier, transactionId: Identifier }),
    priority: URGENT,
  },
  /** Asks the provider for a customer of whom no event has told. */
  look_up_customer: {
    payload: Type.Object({ provider: Identifier, customerId: Identifier }),
    priority: URGENT,
  },
  /** Asks who wants news to confirm it from his mailbox. */
  send_confirmation: {
    payload: Type.Object({ addressHash: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
    priority: URGENT,
  },
  /** Tries the payment providers' events again that could not be applied. */
  retry_webhooks: { payload: Type.Object({}), priority: UNHURRIED, followsItself: true },
  /** Looks in the provider's log for events that never arrived. */
  reconcile_payments: { payload: Type.Object({}), priority: UNHURRIED, followsItself: true },
  /** Deletes what is kept of outreach for a while. */
  /** Forgets who asked for news and never confirmed it. */
  forget_old_subscribers: { payload: Type.Object({}), priority: UNHURRIED, followsItself: true },
  delete_old_outreach: { payload: Type.Object({}), priority: UNHURRIED, followsItself: true },
} as const satisfies Readonly<Record<string, JobDefinition>>;

/** The name of a kind of job. */
export type JobName = keyof typeof jobDefinitions;

/** What a kind of job takes. */
export type JobPayload<Name extends JobName> = Static<(typeof jobDefinitions)[Name]['payload']>;
