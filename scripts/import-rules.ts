/** Which part may import what. `imports.test.ts` checks every import. */

/** Paths are below `server/src` or `agent/src`; `*` stands for any part of one name. */
export interface ImportRule {
  readonly from: readonly string[];
  /** Besides its own folder. */
  readonly may: readonly string[];
  /** Of what it may import. */
  readonly not: readonly string[];
}

/** Paths, separated by blanks. */
function rule(from: string, may: string, not = ''): ImportRule {
  return { from: listPaths(from), may: listPaths(may), not: listPaths(not) };
}

function listPaths(text: string): string[] {
  return text.split(/\s+/).filter((path) => path !== '');
}

/** The rule with the longest matching path applies. Files without one, such as `app.ts`, assemble the parts and may import everything. */
export const SERVER_LAYERS: readonly ImportRule[] = [
  rule('lib', 'errors.ts'),
  rule('config', 'lib log.ts log-scrub.ts'),
  rule('db', 'config lib errors.ts log.ts'),
  rule(
    'http',
    `
    config lib errors.ts log.ts log-scrub.ts metrics.ts db/database-errors.ts db/list.ts pages`,
  ),
  rule('jobs', 'db lib clock.ts log.ts log-scrub.ts metrics.ts'),
  rule('mail', 'config lib/loopback.ts lib/text.ts lib/tls-failure.ts'),
  rule('pages', 'lib/text.ts'),
  rule('redis', 'lib'),
  rule('console', 'errors.ts http/app-instance.ts http/send-page.ts'),
  rule(
    'features/*',
    `
    features db lib config jobs mail pages redis clock.ts errors.ts`,
    'features/*/routes.ts features/*/admin-*.ts',
  ),
  rule(
    'features/lists',
    `
    features/audit/record-access.ts db/bounded-list.ts db/list.ts lib clock.ts log-scrub.ts http/admin-list.ts
    http/app-instance.ts http/serve-operation.ts`,
  ),
  rule(
    'features/audit features/audit/queries.ts',
    'db lib clock.ts errors.ts log-scrub.ts features/audit/rules features/lists/list-source.ts',
  ),
  rule(
    'features/*/rules features/*/fingerprint',
    `
    features/*/rules features/*/fingerprint lib features/*/facts.ts config/catalog-model.ts`,
  ),
  rule(
    'features/*/queries features/*/queries.ts',
    `
    db lib features/*/queries.ts features/*/rules features/*/fingerprint features/*/facts.ts`,
  ),
  rule(
    'features/license-admin/queries',
    'db lib features/licenses/queries features/licenses/rules',
  ),
  rule('features/key-emails/queries.ts', 'db lib features/billing/queries'),
  rule(
    'features/*/routes.ts features/*/admin-*.ts',
    `
    features/* clock.ts config errors.ts lib http/admin-list.ts http/app-instance.ts
    http/database-slots.ts http/done.ts http/json-parser.ts http/limit-rate.ts http/read-form.ts
    http/require-api-key.ts http/require-operator.ts http/same-origin.ts http/serve-operation.ts
    http/session-cookie.ts http/send-page.ts`,
    'features/*/queries features/*/queries.ts',
  ),
  rule(
    `
    features/buyers/handle-*.ts features/buyers/interface-routes.ts`,
    `
    features config errors.ts http/app-instance.ts http/done.ts http/read-form.ts
    http/send-page.ts http/session-cookie.ts pages/format-date.ts`,
    'features/*/routes.ts',
  ),
  rule('features/compatible-licenses/read-fields.ts', 'http/json-parser.ts http/read-form.ts'),
  rule('features/buyers/queries', 'db lib features/licenses/queries'),
  rule(
    'cli',
    `
    features jobs mail config db lib clock.ts context.ts serve.ts workers http/listen.ts
    errors.ts log.ts log-terminal.ts metrics.ts`,
    'features/*/routes.ts features/*/admin-*.ts',
  ),
];

/** The features that a feature knows. */
export const FEATURES: readonly ImportRule[] = [
  rule('features/lists', 'features/audit/record-access.ts'),
  rule(
    'features/licenses',
    `
    features/entitlements features/outgoing-webhooks features/usage/queries.ts
    features/usage/machine-key.ts features/audit`,
  ),
  rule(
    'features/analytics',
    `
    features/licenses/rules features/usage/queries.ts features/usage/machine-key.ts
    features/audit/queries.ts features/audit/record-access.ts`,
  ),
  rule('features/usage', 'features/licenses/read-machine.ts features/audit/queries'),
  rule('features/compatible-licenses', 'features/licenses features/imports'),
  rule(
    'features/master-secret',
    `
    features/licenses features/entitlements features/operators features/outgoing-webhooks
    features/suppressions features/usage features/audit/queries.ts`,
  ),
  rule(
    'features/trials',
    `
    features/licenses features/entitlements features/outgoing-webhooks features/analytics`,
  ),
  rule('features/entitlements', 'features/licenses/rules features/audit/queries.ts'),
  rule('features/spread', 'features/audit/queries.ts'),
  rule('features/fleet', 'features/audit/queries.ts'),
  rule('features/suppressions', 'features/audit/queries features/audit/queries.ts'),
  rule(
    'features/search',
    `
    features/analytics/queries features/licenses features/usage/machine-key.ts`,
  ),
  rule(
    'features/overview',
    `
    features/analytics features/billing/providers features/billing/queries
    features/licenses/rules features/outgoing-webhooks`,
  ),
  rule('features/api-keys', 'features/audit/queries.ts'),
  rule('features/operators', 'features/api-keys features/audit'),
  rule(
    'features/subscribers',
    `
    features/api-keys features/suppressions features/outreach/queries features/audit/queries.ts`,
  ),
  rule(
    'features/outreach',
    `
    features/api-keys features/audit features/licenses/queries features/subscribers/queries
    features/suppressions`,
  ),
  rule(
    'features/health',
    `
    features/analytics/queries features/analytics/rules features/licenses/queries
    features/licenses/view-key-pools.ts features/audit/queries.ts features/billing
    features/key-emails/backlog-queries.ts features/outgoing-webhooks/queries`,
  ),
  rule(
    'features/doctor',
    `
    features/analytics/queries features/analytics/rules features/audit/verify-chain.ts
    features/key-emails features/billing/queries features/entitlements
    features/licenses/view-key-pools.ts features/master-secret/queries.ts
    features/outgoing-webhooks features/spread features/subscribers/queries`,
  ),
  rule(
    'features/customers',
    `
    features/analytics/installs features/audit/queries.ts features/key-emails
    features/billing/list-purchase-payments.ts features/billing/queries features/buyers/queries
    features/licenses/dependencies.ts features/licenses/facts.ts features/licenses/queries
    features/outgoing-webhooks features/outreach/queries features/subscribers
    features/suppressions features/usage/machine-key.ts features/audit/record-access.ts
    features/licenses/rules`,
  ),
  rule(
    'features/buyers',
    `
    features/billing/dependencies.ts features/key-emails features/billing/queries
    features/licenses features/subscribers/queries features/suppressions`,
  ),
  rule(
    'features/billing',
    `
    features/licenses features/outgoing-webhooks features/audit
    features/key-emails/backlog-queries.ts features/key-emails/buyer-queries.ts`,
  ),
  rule('features/key-emails', 'features/billing features/licenses features/audit/queries.ts'),
  rule(
    'features/mails',
    `
    features/key-emails features/buyers/mails
    features/outreach/templates features/subscribers features/suppressions`,
  ),
  rule(
    'features/outgoing-webhooks',
    `
    features/licenses/rules features/licenses/queries features/licenses/terms.ts
    features/audit/queries.ts`,
  ),
  rule('features/imports', 'features/licenses features/billing features/audit/queries.ts'),
  rule(
    'features/license-admin',
    `
    features/licenses features/billing features/key-emails features/imports
    features/audit/record-access.ts`,
  ),
];

/** The layers of the agent. It imports only types from the contract, because the schema library would cost memory in the service. */
export const AGENT_LAYERS: readonly ImportRule[] = [
  rule('collect', 'collector.ts metric-values.ts parse probe read roots.ts'),
  rule('parse', 'metric-values.ts'),
  rule('probe', ''),
  rule('system', ''),
  rule('read', 'errors.ts roots.ts'),
  rule('formats', 'notices.ts version.ts'),
  rule('tls', 'errors.ts proxy-identity.ts'),
  rule(
    'stream',
    `
    clock.ts collector.ts errors.ts metric-values.ts formats log.ts notices.ts
    page/answer-page.ts page/page-source.ts proxy-identity.ts sample.ts tls version.ts`,
  ),
  rule('page', 'notices.ts'),
  rule('page/fleet/core', ''),
  rule('config', 'errors.ts service/client.ts tls'),
  rule('doctor', 'config install service/client.ts system tls'),
  rule('authority', 'clock.ts errors.ts proxy-identity.ts system'),
  rule(
    'install/detect',
    `
    config errors.ts install/facts.ts install/installed.ts install/nginx install/options.ts
    install/paths.ts read system/run-program.ts`,
  ),
  rule(
    'install/plan',
    `
    install/facts.ts install/files install/instructions install/nginx install/options.ts
    install/paths.ts install/proxy-options.ts install/steps.ts version.ts`,
  ),
  rule('install/files', 'install/facts.ts install/paths.ts'),
  rule(
    'install/apply',
    `
    errors.ts install/files/units.ts install/installed.ts install/nginx install/paths.ts
    install/steps.ts system`,
  ),
  rule(
    'install/verify',
    `
    config errors.ts install/detect install/facts.ts install/paths.ts proxy-identity.ts
    system/run-program.ts`,
  ),
  rule(
    'install/nginx',
    `
    install/facts.ts install/paths.ts install/proxy-options.ts install/steps.ts
    proxy-identity.ts tls/cipher-suites.ts`,
  ),
  rule('install/instructions', 'install/paths.ts install/proxy-options.ts proxy-identity.ts'),
  rule('watch', 'cli/format.ts errors.ts stream/history.ts'),
  rule('service', 'clock.ts config/config.ts errors.ts log.ts'),
];
