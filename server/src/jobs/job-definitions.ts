import { Type, type Static, type TObject } from 'typebox';

/** What is known of a kind of job before it runs. */
export interface JobDefinition {
  /** Checked when the job is added, and again when it is run. No secrets: it is stored in plain. */
  readonly payload: TObject;
  /** Of the jobs that are due, the lowest number comes first. */
  readonly priority: number;
  /** It adds the next one of its kind itself, however it ends: so a failure is reported at once and not tried again. */
  readonly followsItself?: boolean;
}

/** Somebody waits for it. */
const URGENT = -10;

/** Nobody waits for it. */
const UNHURRIED = 0;

/** At most as long as the identifiers that the providers' events carry. */
const Identifier = Type.String({ minLength: 1, maxLength: 200 });

/** Every kind of job. Jobs of a kind that is removed here stay in the database undone; `latchkey jobs list` shows them. */
export const jobDefinitions = {
  /** Sends the buyer of a transaction the keys of its licenses, once. */
  send_key_email: {
    payload: Type.Object({ provider: Identifier, transactionId: Identifier }),
    priority: URGENT,
  },
  /** Sends the owner of a license the key that replaced the one before. */
  send_replaced_key: {
    payload: Type.Object({
      licenseId: Identifier,
      machinesKept: Type.Boolean(),
      /** A relay had it before and did not say whether it took it. */
      isRepeat: Type.Boolean(),
    }),
    priority: URGENT,
  },
  /** Asks the provider for a customer of whom no event has told. */
  look_up_customer: {
    payload: Type.Object({ provider: Identifier, customerId: Identifier }),
    priority: URGENT,
  },
  /** Asks a new subscriber to confirm by e-mail. */
  send_confirmation: {
    payload: Type.Object({ addressHash: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
    priority: URGENT,
  },
  /** Applies payment providers' events that could not be applied before. */
  retry_webhooks: { payload: Type.Object({}), priority: UNHURRIED, followsItself: true },
  /** Looks in the provider's log for events that never arrived. */
  reconcile_payments: { payload: Type.Object({}), priority: UNHURRIED, followsItself: true },
  /** Removes the bodies of payment events that are older than they are kept. */
  remove_old_event_bodies: { payload: Type.Object({}), priority: UNHURRIED, followsItself: true },
  /** Forgets who asked for news and never confirmed it. */
  forget_old_subscribers: { payload: Type.Object({}), priority: UNHURRIED, followsItself: true },
  /** Deletes what is kept of outreach for a while. */
  delete_old_outreach: { payload: Type.Object({}), priority: UNHURRIED, followsItself: true },
} as const satisfies Readonly<Record<string, JobDefinition>>;

/** The name of a kind of job. */
export type JobName = keyof typeof jobDefinitions;

/** What a kind of job takes. */
export type JobPayload<Name extends JobName> = Static<(typeof jobDefinitions)[Name]['payload']>;
