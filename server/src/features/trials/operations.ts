import { TrialStartRequest, TrialStartResponse, ref } from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

export const startTrialOperation = {
  operationId: 'startTrial',
  tags: ['trial'],
  summary: 'Start the trial of a machine, or get it back',
  description: 'Seven days, granted once per machine; asking again returns the same trial.',
  body: ref(TrialStartRequest),
  response: { 200: ref(TrialStartResponse, 'The trial, also when it is over.') },
  problems: ['rate_limited'],
} satisfies FastifySchema;
