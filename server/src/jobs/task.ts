import { Parse } from 'typebox/schema';

import {
  jobDefinitions,
  type JobDefinition,
  type JobName,
  type JobPayload,
} from './job-definitions.ts';

/** A kind of job and how it is done. */
export interface Task {
  readonly name: JobName;
  /** See {@link JobDefinition}. */
  readonly followsItself: boolean;
  /**
   * Does a job, or throws, whereupon it is tried again later.
   * @param payload as it lay in the database
   * @param signal aborts when the job takes too long or the process stops; what it did until then must bear repeating
   */
  readonly run: (payload: unknown, signal: AbortSignal) => Promise<void>;
}

/** Declares how a kind of job is done. */
export function defineTask<Name extends JobName>(
  name: Name,
  work: (payload: JobPayload<Name>, signal: AbortSignal) => Promise<void>,
): Task {
  const { followsItself = false }: JobDefinition = jobDefinitions[name];
  const schema: (typeof jobDefinitions)[Name]['payload'] = jobDefinitions[name].payload;
  return {
    name,
    followsItself,
    run: async (payload, signal) => work(Parse(schema, payload), signal),
  };
}
