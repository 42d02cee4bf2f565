import { TrialStartRequest, TrialStartResponse, ref } from '@latchkey/contract';
import type { Context } from '#server/context.ts';
import type { App } from '#server/http/app-instance.ts';

import { startTrial } from './start-trial.ts';

/** The one-time trial of a machine. */
export function registerTrialRoutes(app: App, ctx: Context): void {
  app.post(
    '/api/v1/trial/start',
    {
      schema: {
        operationId: 'startTrial',
        tags: ['trial'],
        summary: 'Start the trial of a machine, or get it back',
        description: 'Seven days, granted once per machine; asking again returns the same trial.',
        body: ref(TrialStartRequest),
        response: { 200: ref(TrialStartResponse, 'The trial, also when it is over.') },
      },
    },
    (request) => startTrial(ctx, request.body),
  );
}
