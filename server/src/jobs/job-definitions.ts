import { Type, type Static, type TObject } from 'typebox';

/** The payload and the priority of a kind of job. */
export interface JobDefinition {
  /** Checked when the job is added, and again when it runs. It must not hold secrets: it is stored as plain text. */
  readonly payload: TObject;
  /** Of the jobs that are due, the lowest number runs first. */
  readonly priority: number;
}

/** For jobs whose result a person waits for. */
const URGENT = -10;

/** The priority of recurring tasks. */
export const NOT_URGENT = 0;

/** As long as the identifiers of the providers' events may be. */
const Identifier = Type.String({ minLength: 1, maxLength: 200 });

/**
 * Every kind of job. Jobs of a kind that is removed here stay in the database; `latchkey jobs list --all` shows them.
 */
export const jobDefinitions = {
  /** Sends the buyer of a transaction the keys of its licenses, once. */
  send_key_email: {
    payload: Type.Object({ provider: Identifier, transactionId: Identifier }),
    priority: URGENT,
  },
  /** Notifies the payer of a gift that its keys were sent, once. */
  send_gift_note: {
    payload: Type.Object({ provider: Identifier, transactionId: Identifier }),
    priority: NOT_URGENT,
  },
  /** Sends the owner of a license the key that replaced the previous one. */
  send_replaced_key: {
    payload: Type.Object({
      licenseId: Identifier,
      machinesKept: Type.Boolean(),
      /** An earlier attempt reached the relay, which did not confirm that it accepted the e-mail. */
      isRepeat: Type.Boolean(),
    }),
    priority: URGENT,
  },
  /** Sends the owner of a license its key, by request of an operator. */
  send_license_key: {
    payload: Type.Object({
      licenseId: Identifier,
      /** So that each request has a Message-ID of its own. */
      requestedAt: Identifier,
      /** As in `send_replaced_key`. */
      isRepeat: Type.Boolean(),
    }),
    priority: URGENT,
  },
  /** Asks Stripe what a checkout sold. */
  look_up_checkout: {
    payload: Type.Object({
      provider: Type.Enum(['stripe', 'stripe:test']),
      transactionId: Identifier,
      checkoutId: Identifier,
    }),
    priority: URGENT,
  },
  /** Asks the provider for a customer that no event has described. */
  look_up_customer: {
    payload: Type.Object({ provider: Identifier, customerId: Identifier }),
    priority: URGENT,
  },
  /** Asks the provider for the facts of an event that is not signed. */
  look_up_event: {
    payload: Type.Object({ provider: Identifier, eventId: Identifier }),
    priority: URGENT,
  },
  /** Mails a buyer the code for the page for buyers, if a license has the address. */
  send_buyer_code: {
    payload: Type.Object({ tokenHash: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
    priority: URGENT,
  },
  /** Tells the owner of a license that a machine was deactivated on the page for buyers. */
  send_machine_freed: {
    payload: Type.Object({
      licenseId: Identifier,
      activationId: Identifier,
      /** So that each deactivation has a Message-ID of its own. */
      freedAt: Identifier,
      /** As in `send_replaced_key`. */
      isRepeat: Type.Boolean(),
    }),
    priority: URGENT,
  },
  /** Asks a new subscriber to confirm by e-mail. */
  send_confirmation: {
    payload: Type.Object({ addressHash: Type.String({ pattern: '^[0-9a-f]{64}$' }) }),
    priority: URGENT,
  },
} as const satisfies Readonly<Record<string, JobDefinition>>;

/** The name of a kind of job. */
export type JobName = keyof typeof jobDefinitions;

/** The payload of a kind of job. */
export type JobPayload<Name extends JobName> = Static<(typeof jobDefinitions)[Name]['payload']>;
