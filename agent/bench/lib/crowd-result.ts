import { type Static, Type } from 'typebox';

/** What a crowd of viewers saw. */
export const CrowdResult = Type.Object({
  /** How long after the time in the snapshot the last viewer had it. */
  lastMs: Type.Array(Type.Number(), { minItems: 1 }),
  /** How many times one of the viewers did not get one of these snapshots. */
  missed: Type.Number(),
});
export type CrowdResult = Static<typeof CrowdResult>;
