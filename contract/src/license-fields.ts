/** Schemas that several operations on licenses have in common. */
import { Type } from 'typebox';

import { expectedVersion, reason } from './admin-list.ts';
import { dateTime, email, integer, nullable, oneOf, text, uuid } from './schema.ts';

export const MAX_MACHINES = 1_000_000;
export const MAX_LICENSE_TEXT_LENGTH = 1_000;

/** In days; the command line has the same limit. */
export const MAX_LICENSE_DAYS = 36_500;

export const EXAMPLE_ID = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';
export const EXAMPLE_TIME = '2026-11-20T10:00:00.000Z';

export const licensePath = Type.Object({ id: uuid() });

export const count = (description: string, example: number) =>
  Type.Integer({ description, examples: [example] });

export const nullableTime = (description: string) =>
  nullable(dateTime({ description, examples: [EXAMPLE_TIME] }));

/** What every change has that is based on a version. */
export const based = { expected_version: expectedVersion, reason };

export const customerName = text({ maxLength: MAX_LICENSE_TEXT_LENGTH, examples: ['Ann Example'] });
export const note = text({ maxLength: MAX_LICENSE_TEXT_LENGTH, examples: ['A press copy'] });
export const customerEmail = email({ examples: ['ann@example.com'] });

export const maxActivations = integer({
  description: 'How many machines may be active at once.',
  minimum: 1,
  maximum: MAX_MACHINES,
  examples: [3],
});

export const licenseKey = Type.String({
  description: 'The full key.',
  examples: ['LK-7K2QX-9M4VD-TR8YH-3PWNC-5B1R0'],
});

export const mailOutcome = oneOf(
  ['queued', 'not_wanted', 'not_configured', 'no_address', 'not_valid', 'sending'],
  {
    description:
      'Whether the e-mail is queued, or why not: no mail relay, no address, a license that is not usable, or an e-mail that is just being sent.',
    examples: ['queued'],
  },
);
