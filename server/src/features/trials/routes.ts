import { TrialStartRequest, TrialStartResponse, ref } from '@latchkey/contract';
import { notImplemented } from '#server/errors.ts';
import type { App } from '#server/http/app-instance.ts';

/** The one-time trial of a machine. */
export function registerTrialRoutes(app: App): void {
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
    async () => {
      throw notImplemented();
    },
  );
}
