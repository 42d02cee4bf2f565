import { type Static, Type } from 'typebox';

/** The result of many viewers. */
export const CrowdResult = Type.Object({
  /** The delay between the time of a snapshot and its receipt by the last viewer. */
  lastMs: Type.Array(Type.Number(), { minItems: 1 }),
  /** The number of missed snapshots of all viewers. */
  missed: Type.Number(),
});
export type CrowdResult = Static<typeof CrowdResult>;
