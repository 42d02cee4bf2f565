import { registerConsoleRoutes } from './console/routes.ts';
import type { Context } from './context.ts';
import { registerEventReportRoutes } from './features/analytics/admin-event-routes.ts';
import { registerUsageReportRoutes } from './features/analytics/admin-usage-routes.ts';
import { registerAnalyticsRoutes } from './features/analytics/routes.ts';
import { registerAdminApiKeyRoutes } from './features/api-keys/admin-routes.ts';
import { authenticateApiKey } from './features/api-keys/authenticate.ts';
import { registerAuditRoutes } from './features/audit/admin-routes.ts';
import { registerRevenueRoutes } from './features/billing/admin-revenue-routes.ts';
import { registerPaymentEventRoutes } from './features/billing/admin-routes.ts';
import { registerBillingRoutes } from './features/billing/routes.ts';
import { registerSigningKeyRoutes } from './features/entitlements/admin-routes.ts';
import { registerBuyerInterface } from './features/buyers/interface-routes.ts';
import { registerBuyerRoutes } from './features/buyers/routes.ts';
import { registerCompatibleRoutes } from './features/compatible-licenses/routes.ts';
import { registerCustomerRoutes } from './features/customers/admin-routes.ts';
import { registerKeySetRoute } from './features/entitlements/routes.ts';
import { registerCatalogRoutes } from './features/catalog/admin-routes.ts';
import { registerDoctorRoutes } from './features/doctor/admin-routes.ts';
import { registerJobRoutes } from './features/health/admin-job-routes.ts';
import { registerServiceHealthRoutes } from './features/health/admin-routes.ts';
import { createHealth } from './features/health/check-health.ts';
import type { HealthDependencies } from './features/health/dependencies.ts';
import { registerHealthRoutes } from './features/health/routes.ts';
import { registerFleetRoutes } from './features/fleet/admin-routes.ts';
import { registerCredentialRoutes } from './features/operators/admin-credential-routes.ts';
import { registerOperatorRoutes } from './features/operators/admin-operator-routes.ts';
import { registerPasskeyRoutes } from './features/operators/admin-passkey-routes.ts';
import { registerProviderRoutes } from './features/operators/admin-provider-routes.ts';
import { registerSessionRoutes } from './features/operators/admin-session-routes.ts';
import { authenticateOperator } from './features/operators/authenticate.ts';
import { isAnyOperator } from './features/operators/queries/operators.ts';
import { registerLicenseChangeRoutes } from './features/license-admin/admin-change-routes.ts';
import { registerLicenseAdminRoutes } from './features/license-admin/admin-routes.ts';
import { registerKeyPoolRoutes } from './features/license-admin/admin-key-pool-routes.ts';
import { registerLicenseRoutes } from './features/licenses/routes.ts';
import { registerMailRoutes } from './features/mails/admin-routes.ts';
import { registerWebhookRoutes } from './features/outgoing-webhooks/admin-routes.ts';
import { registerComposeRoutes } from './features/outreach/admin-compose-routes.ts';
import { registerCampaignRoutes } from './features/outreach/admin-routes.ts';
import { registerOutreachRoutes } from './features/outreach/routes.ts';
import { registerAdminSubscriberRoutes } from './features/subscribers/admin-routes.ts';
import { registerAdminSuppressionRoutes } from './features/suppressions/admin-routes.ts';
import { registerOverviewRoutes } from './features/overview/admin-routes.ts';
import { registerSearchRoutes } from './features/search/admin-routes.ts';
import { registerSubscriberRoutes } from './features/subscribers/routes.ts';
import { registerUnsubscribeRoutes } from './features/suppressions/routes.ts';
import { registerAdminTrialRoutes } from './features/trials/admin-routes.ts';
import { registerTrialRoutes } from './features/trials/routes.ts';
import { registerUsageRoutes } from './features/usage/routes.ts';
import { findFleetHosts } from './find-fleet-hosts.ts';
import type { App } from './http/app-instance.ts';
import { registerDocumentationRoutes, registerRootRoute } from './http/docs/routes.ts';
import { addMetricsRoute } from './http/metrics-endpoint.ts';
import { runInDatabaseSlots } from './http/database-slots.ts';
import { refuseUnstorableText } from './http/refuse-unstorable-text.ts';
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
  const health = createHealth({ readLoadState, ...deps.health });
  app.register(async (scope: App) => {
    registerLicenseRoutes(scope, context);
    registerCompatibleRoutes(scope, context);
    registerTrialRoutes(scope, context);
    registerKeySetRoute(scope, context);
    registerUsageRoutes(scope, context);
    registerAnalyticsRoutes(scope, context);
    registerSubscriberRoutes(scope, context);
    registerOutreachRoutes(scope, context);
    registerBillingRoutes(scope, context);
    registerUnsubscribeRoutes(scope, context);
    registerBuyerRoutes(scope, context);
    registerBuyerInterface(scope, context);
    registerRootRoute(scope);
    registerDocumentationRoutes(scope);
    registerConsoleRoutes(scope, {
      isAnyOperator: () => context.databaseLimiter.run(() => isAnyOperator(context.pool)),
      findFleetHosts: ({ headers }) => findFleetHosts(context, headers),
    });
  });
  app.register(async (scope: App) => {
    requireOperators(
      scope,
      () => context.config.http.publicUrl,
      (credential, access) => authenticateOperator(context, credential, access),
    );
    refuseUnstorableText(scope);
    runInDatabaseSlots(scope, context.databaseLimiter);
    registerPaymentEventRoutes(scope, context);
    registerRevenueRoutes(scope, context);
    registerWebhookRoutes(scope, context);
    registerFleetRoutes(scope, context);
    registerMailRoutes(scope, context);
    registerSessionRoutes(scope, context);
    registerCredentialRoutes(scope, context);
    registerPasskeyRoutes(scope, context);
    registerProviderRoutes(scope, context);
    registerOperatorRoutes(scope, context);
    registerLicenseAdminRoutes(scope, context);
    registerLicenseChangeRoutes(scope, context);
    registerKeyPoolRoutes(scope, context);
    registerAdminSubscriberRoutes(scope, context);
    registerAdminSuppressionRoutes(scope, context);
    registerComposeRoutes(scope, context);
    registerCampaignRoutes(scope, context);
    registerAdminApiKeyRoutes(scope, context);
    registerSigningKeyRoutes(scope, context);
    registerAuditRoutes(scope, context);
    registerUsageReportRoutes(scope, context);
    registerEventReportRoutes(scope, context);
    registerOverviewRoutes(scope, context);
    registerSearchRoutes(scope, context);
    registerAdminTrialRoutes(scope, context);
    registerCustomerRoutes(scope, context);
    registerCatalogRoutes(scope, context);
    registerDoctorRoutes(scope, context);
    registerServiceHealthRoutes(scope, context, { ...deps.health, health });
    registerJobRoutes(scope, context);
  });
  addMetricsRoute(app, { render: () => context.metrics.render() }, (presented) =>
    authenticateApiKey(context, presented, 'metrics:read'),
  );
  app.register(async (scope: App) => registerHealthRoutes(scope, health));
  return app;
}
