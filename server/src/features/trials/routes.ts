import type { Context } from '#server/context.ts';
import type { App } from '#server/http/app-instance.ts';

import { startTrialOperation } from './operations.ts';
import { startTrial } from './start-trial.ts';

/** The one-time trial of a machine. */
export function registerTrialRoutes(app: App, ctx: Context): void {
  app.post('/api/v1/trial/start', { schema: startTrialOperation }, (request) =>
    startTrial(ctx, request.body),
  );
}
