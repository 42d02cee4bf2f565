import { Type } from 'typebox';
import { Compile } from 'typebox/schema';

import type { ActivationFacts, LicenseStanding } from '../rules/facts.ts';

/** What a license key leads to. */
export interface KeyFinding {
  readonly license: LicenseStanding;
  /** Null when this license has no activation of that id. */
  readonly activation: (ActivationFacts & { readonly entitlementProof: string | null }) | null;
}

/**
 * The moments of license `l` and activation `a` that are null for nearly all of them, packed in one column that then is null
 * itself: each column costs Node about 0.3 µs a row, even when it is empty.
 */
export const EXCEPTIONS = `
  case when num_nonnulls(l.cancel_scheduled_for, l.canceled_at, l.paused_at,
                         l.suspended_at, l.disputed_at, l.refunded_at, l.revoked_at, a.deactivated_at) > 0
    then json_build_array(l.cancel_scheduled_for, l.canceled_at, l.paused_at,
                          l.suspended_at, l.refunded_at, l.revoked_at, a.deactivated_at,
                          l.disputed_at)
  end`;

/** The moments of {@link EXCEPTIONS}. */
export type Exceptions = Pick<
  LicenseStanding,
  | 'cancelScheduledFor'
  | 'canceledAt'
  | 'pausedAt'
  | 'suspendedAt'
  | 'refundedAt'
  | 'revokedAt'
  | 'disputedAt'
> &
  Pick<ActivationFacts, 'deactivatedAt'>;

const NO_EXCEPTIONS: Exceptions = {
  cancelScheduledFor: null,
  canceledAt: null,
  pausedAt: null,
  suspendedAt: null,
  refundedAt: null,
  revokedAt: null,
  deactivatedAt: null,
  disputedAt: null,
};

const Moment = Type.Union([Type.String(), Type.Null()]);
const Moments = Compile(Type.Array(Moment, { minItems: 8, maxItems: 8 }));

/** Parses the column {@link EXCEPTIONS}. */
export function readExceptions(json: string | null | undefined): Exceptions {
  if (json == null) return NO_EXCEPTIONS;
  const [
    cancelScheduledFor = null,
    canceledAt = null,
    pausedAt = null,
    suspendedAt = null,
    refundedAt = null,
    revokedAt = null,
    deactivatedAt = null,
    disputedAt = null,
  ] = Moments.Parse(JSON.parse(json)).map((text) => (text === null ? null : new Date(text)));
  return {
    cancelScheduledFor,
    canceledAt,
    pausedAt,
    suspendedAt,
    refundedAt,
    revokedAt,
    deactivatedAt,
    disputedAt,
  };
}

/** Parses a number of milliseconds since 1970, which may have a fraction. */
export function readMoment(milliseconds: string | null | undefined): Date | null {
  return milliseconds == null ? null : new Date(Number(milliseconds));
}

/** @throws {Error} for null in a column that is never null */
export function required(text: string | null | undefined): string {
  if (text == null) throw new Error('a statement returned null in a column that is never null');
  return text;
}

/** A license as its columns show it. */
export function toStanding(
  facts: Pick<LicenseStanding, 'id' | 'productId' | 'trial' | 'subscription' | 'expiresAt'>,
  exceptions: Exceptions,
): LicenseStanding {
  return {
    id: facts.id,
    productId: facts.productId,
    trial: facts.trial,
    subscription: facts.subscription,
    expiresAt: facts.expiresAt,
    cancelScheduledFor: exceptions.cancelScheduledFor,
    canceledAt: exceptions.canceledAt,
    pausedAt: exceptions.pausedAt,
    suspendedAt: exceptions.suspendedAt,
    refundedAt: exceptions.refundedAt,
    revokedAt: exceptions.revokedAt,
    disputedAt: exceptions.disputedAt,
  };
}
