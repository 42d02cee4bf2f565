import type { DayPlan } from '../plan/day-plan.ts';
import { Counters, Facts } from './counters.ts';
import { KeyMails } from './key-mails.ts';
import { UuidColumn } from './uuids.ts';

/** The messages of one outreach request. */
export const RECIPIENTS_OF_A_REQUEST = 25;

/**
 * Everything that the service acknowledged, to compare with its database. Columns of bytes, because objects for 200,000 machines
 * would take more memory than the service: a machine takes 8 bytes, a purchase 67.
 */
export interface Ledger {
  /** Validations and heartbeats of each machine that was activated before the day. */
  readonly validations: Counters;
  readonly heartbeats: Counters;
  /** Batches of events. */
  readonly eventBatches: Facts;
  readonly trials: Facts;
  readonly trialActivations: UuidColumn;
  /** Webhooks of payments; each is sent until it is acknowledged. */
  readonly payments: Facts;
  /** The hash of the key that the page of each buyer received. */
  readonly keys: UuidColumn;
  /** The machine of each buyer. */
  readonly activations: Facts;
  readonly activationIds: UuidColumn;
  readonly buyerValidations: Counters;
  readonly deactivations: Facts;
  readonly subscriptions: Facts;
  /** Outreach requests. */
  readonly outreachRequests: Facts;
  /** Outreach messages, by recipient: acknowledged if reported as sent, unanswered if reported as unknown. */
  readonly outreach: Facts;
  /** Those that were reported as not sent. */
  readonly outreachNotSent: Facts;
  /** E-mails that the relay accepted, by buyer and by recipient of outreach. */
  readonly keyMails: KeyMails;
  readonly outreachMails: Uint8Array;
}

/** Creates the empty ledger of a day. */
export function createLedger(plan: DayPlan, machines: number): Ledger {
  const purchases = plan.purchase.total;
  const recipients = plan.outreach.total * RECIPIENTS_OF_A_REQUEST;
  return {
    validations: new Counters(machines),
    heartbeats: new Counters(machines),
    eventBatches: new Facts(plan.events.total),
    trials: new Facts(plan.trial.total),
    trialActivations: new UuidColumn(plan.trial.total),
    payments: new Facts(purchases),
    keys: new UuidColumn(purchases),
    activations: new Facts(purchases),
    activationIds: new UuidColumn(purchases),
    buyerValidations: new Counters(purchases),
    deactivations: new Facts(purchases),
    subscriptions: new Facts(plan.subscription.total),
    outreachRequests: new Facts(plan.outreach.total),
    outreach: new Facts(recipients),
    outreachNotSent: new Facts(recipients),
    keyMails: new KeyMails(purchases),
    outreachMails: new Uint8Array(recipients),
  };
}
