import { Type } from 'typebox';

import { Nullable } from '#server/db/statement.ts';

/** The columns of `licenses` with the facts of a license's status, for queries of every feature. */
export const StatusRow = Type.Object({
  id: Type.String(),
  productId: Type.String(),
  trial: Type.Boolean(),
  subscription: Type.Boolean(),
  expiresAt: Nullable.Timestamp,
  updatesUntil: Nullable.Timestamp,
  cancelScheduledFor: Nullable.Timestamp,
  canceledAt: Nullable.Timestamp,
  pausedAt: Nullable.Timestamp,
  suspendedAt: Nullable.Timestamp,
  disputedAt: Nullable.Timestamp,
  refundedAt: Nullable.Timestamp,
  revokedAt: Nullable.Timestamp,
});
