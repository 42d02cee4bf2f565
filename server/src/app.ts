import type { Context } from './context.ts';
import { registerAnalyticsRoutes } from './features/analytics/routes.ts';
import { authenticateApiKey } from './features/api-keys/authenticate.ts';
import { registerBillingRoutes } from './features/billing/routes.ts';
import { registerKeySetRoute } from './features/entitlements/routes.ts';
import type { HealthDependencies } from './features/health/dependencies.ts';
import { registerHealthRoutes } from './features/health/routes.ts';
import { registerSessionRoutes } from './features/operators/admin-routes.ts';
import { authenticateOperator } from './features/operators/authenticate.ts';
import { registerLicenseRoutes } from './features/licenses/routes.ts';
import { registerOutreachRoutes } from './features/outreach/routes.ts';
import { registerSubscriberRoutes } from './features/subscribers/routes.ts';
import { registerUnsubscribeRoutes } from './features/suppressions/routes.ts';
import { registerTrialRoutes } from './features/trials/routes.ts';
import { registerUsageRoutes } from './features/usage/routes.ts';
import type { App } from './http/app-instance.ts';
import { registerDocumentationRoutes, registerRootRoute } from './http/docs/routes.ts';
import { addMetricsRoute } from './http/metrics-endpoint.ts';
import { requireOperators } from './http/require-operator.ts';
import { type ShellOptions, createShell } from './http/shell.ts';

/** The dependencies of the application. */
export interface AppDependencies extends Omit<ShellOptions, 'metrics'> {
  readonly health: Omit<HealthDependencies, 'readLoadState'>;
  /** Called before the routes are registered, to watch or describe them. */
  readonly prepare?: (app: App) => void;
}

/** Creates the application: the HTTP shell, then the routes of the features. It does not listen yet. */
export function buildApp(context: Context, deps: AppDependencies): App {
  const { app, readLoadState } = createShell({ metrics: context.metrics, ...deps });
  deps.prepare?.(app);
  app.register(async (scope: App) => {
    registerLicenseRoutes(scope, context);
    registerTrialRoutes(scope, context);
    registerKeySetRoute(scope, context);
    registerUsageRoutes(scope, context);
    registerAnalyticsRoutes(scope, context);
    registerSubscriberRoutes(scope, context);
    registerOutreachRoutes(scope, context);
    registerBillingRoutes(scope, context);
    registerUnsubscribeRoutes(scope, context);
    registerRootRoute(scope);
    registerDocumentationRoutes(scope);
  });
  app.register(async (scope: App) => {
    requireOperators(
      scope,
      () => context.config.http.publicUrl,
      (credential, access) => authenticateOperator(context, credential, access),
    );
    registerSessionRoutes(scope, context);
  });
  addMetricsRoute(app, { render: () => context.metrics.render() }, (presented) =>
    authenticateApiKey(context, presented, 'metrics:read'),
  );
  app.register(async (scope: App) =>
    registerHealthRoutes(scope, { readLoadState, ...deps.health }),
  );
  return app;
}
