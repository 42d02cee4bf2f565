/** Every page of the console. A page's module is loaded at its first visit. */
import type { OperatorRole } from '@latchkey/contract';
import type { ComponentType } from 'preact';

import type { RouteProps } from './app/match-path.ts';

/** A page and its place in the navigation. */
export interface PageEntry {
  /** Below `/console`, such as `/licenses/:id`. */
  readonly path: string;
  readonly load: () => Promise<ComponentType<RouteProps>>;
  /** The lowest role that may see it. */
  readonly role: OperatorRole;
  /** Its place in the navigation; absent: it is reached from another page. */
  readonly nav?: {
    readonly group: NavGroup;
    readonly label: string;
    /** The letter after `g` that goes there. */
    readonly key?: string;
  };
}

/** The groups of the navigation, in their order. '' has no heading. */
export const NAV_GROUPS = ['', 'Sales', 'Use', 'Mail', 'System'] as const;

export type NavGroup = (typeof NAV_GROUPS)[number];

/** In the order of the navigation within each group. The first pattern that matches a path is its page. */
export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    role: 'viewer',
    nav: { group: '', label: 'Start', key: 's' },
    load: async () => (await import('./pages/start/start-page.tsx')).StartPage,
  },
  {
    path: '/search',
    role: 'viewer',
    load: async () => (await import('./pages/search/search-page.tsx')).SearchPage,
  },
  {
    path: '/customer',
    role: 'viewer',
    load: async () => (await import('./pages/customers/customer-page.tsx')).CustomerPage,
  },
  {
    path: '/machine',
    role: 'viewer',
    load: async () => (await import('./pages/customers/machine-page.tsx')).MachinePage,
  },
  {
    path: '/installs/:id',
    role: 'viewer',
    load: async () => (await import('./pages/customers/install-page.tsx')).InstallPage,
  },
  {
    path: '/licenses',
    role: 'viewer',
    nav: { group: 'Sales', label: 'Licenses', key: 'l' },
    load: async () => (await import('./pages/licenses/licenses-page.tsx')).LicensesPage,
  },
  {
    path: '/licenses/issue',
    role: 'admin',
    load: async () => (await import('./pages/licenses/issue-page.tsx')).IssuePage,
  },
  {
    path: '/licenses/import',
    role: 'admin',
    load: async () => (await import('./pages/licenses/import-page.tsx')).ImportPage,
  },
  {
    path: '/licenses/:id',
    role: 'viewer',
    load: async () => (await import('./pages/licenses/license-page.tsx')).LicensePage,
  },
  {
    path: '/payments',
    role: 'viewer',
    nav: { group: 'Sales', label: 'Payments', key: 'p' },
    load: async () => (await import('./pages/payments/payments-page.tsx')).PaymentsPage,
  },
  {
    path: '/payments/:provider/:event_id',
    role: 'viewer',
    load: async () => (await import('./pages/payments/payment-page.tsx')).PaymentPage,
  },
  {
    path: '/trials',
    role: 'viewer',
    nav: { group: 'Sales', label: 'Trials', key: 't' },
    load: async () => (await import('./pages/trials/trials-page.tsx')).TrialsPage,
  },
  {
    path: '/webhooks',
    role: 'viewer',
    nav: { group: 'Sales', label: 'Webhooks', key: 'w' },
    load: async () => (await import('./pages/webhooks/webhooks-page.tsx')).WebhooksPage,
  },
  {
    path: '/webhooks/:id',
    role: 'viewer',
    load: async () => (await import('./pages/webhooks/endpoint-page.tsx')).EndpointPage,
  },
  {
    path: '/webhooks/:endpoint_id/:message_id',
    role: 'viewer',
    load: async () => (await import('./pages/webhooks/delivery-page.tsx')).DeliveryPage,
  },
  {
    path: '/usage',
    role: 'viewer',
    load: async () => (await import('./pages/reports/usage-page.tsx')).UsagePage,
    nav: { group: 'Use', label: 'Usage', key: 'u' },
  },
  {
    path: '/events',
    role: 'viewer',
    load: async () => (await import('./pages/reports/events-page.tsx')).EventsPage,
    nav: { group: 'Use', label: 'Events', key: 'e' },
  },
  {
    path: '/events/details',
    role: 'viewer',
    load: async () => (await import('./pages/reports/event-page.tsx')).EventPage,
  },
  {
    path: '/events/stored/:id',
    role: 'viewer',
    load: async () => (await import('./pages/reports/stored-event-page.tsx')).StoredEventPage,
  },
  {
    path: '/outreach',
    role: 'viewer',
    nav: { group: 'Mail', label: 'Outreach', key: 'r' },
    load: async () => (await import('./pages/outreach/outreach-page.tsx')).OutreachPage,
  },
  {
    path: '/outreach/new',
    role: 'admin',
    load: async () => (await import('./pages/outreach/campaign-page.tsx')).NewCampaignPage,
  },
  {
    path: '/outreach/:id',
    role: 'viewer',
    load: async () => (await import('./pages/outreach/campaign-page.tsx')).CampaignPage,
  },
  {
    path: '/subscribers',
    role: 'viewer',
    nav: { group: 'Mail', label: 'Subscribers', key: 'n' },
    load: async () => (await import('./pages/audience/subscribers-page.tsx')).SubscribersPage,
  },
  {
    path: '/subscribers/:id',
    role: 'viewer',
    load: async () => (await import('./pages/audience/subscriber-page.tsx')).SubscriberPage,
  },
  {
    path: '/suppressions',
    role: 'viewer',
    nav: { group: 'Mail', label: 'Suppressions' },
    load: async () => (await import('./pages/audience/suppressions-page.tsx')).SuppressionsPage,
  },
  {
    path: '/mail',
    role: 'viewer',
    nav: { group: 'Mail', label: 'Mail log', key: 'm' },
    load: async () => (await import('./pages/mail/mail-page.tsx')).MailPage,
  },
  {
    path: '/mail/templates/:name',
    role: 'viewer',
    load: async () => (await import('./pages/mail/template-page.tsx')).TemplatePage,
  },
  {
    path: '/mail/:id',
    role: 'viewer',
    load: async () => (await import('./pages/mail/mail-detail-page.tsx')).MailDetailPage,
  },
  {
    path: '/fleet',
    role: 'viewer',
    nav: { group: 'System', label: 'Fleet', key: 'f' },
    load: async () => (await import('./pages/fleet/fleet-page.tsx')).FleetPage,
  },
  {
    path: '/fleet/servers',
    role: 'viewer',
    load: async () => (await import('./pages/fleet/servers-page.tsx')).ServersPage,
  },
  {
    path: '/health',
    role: 'viewer',
    load: async () => (await import('./pages/system/health-page.tsx')).HealthPage,
    nav: { group: 'System', label: 'Health', key: 'h' },
  },
  {
    path: '/jobs',
    role: 'viewer',
    load: async () => (await import('./pages/system/jobs-page.tsx')).JobsPage,
    nav: { group: 'System', label: 'Jobs', key: 'j' },
  },
  {
    path: '/catalog',
    role: 'viewer',
    load: async () => (await import('./pages/system/catalog-page.tsx')).CatalogPage,
    nav: { group: 'System', label: 'Catalog', key: 'c' },
  },
  {
    path: '/audit',
    role: 'admin',
    nav: { group: 'System', label: 'Audit log', key: 'a' },
    load: async () => (await import('./pages/audit/audit-page.tsx')).AuditPage,
  },
  {
    path: '/operators',
    role: 'admin',
    nav: { group: 'System', label: 'Operators', key: 'o' },
    load: async () => (await import('./pages/operators/operators-page.tsx')).OperatorsPage,
  },
  {
    path: '/operators/:id',
    role: 'admin',
    load: async () => (await import('./pages/operators/operator-page.tsx')).OperatorPage,
  },
  {
    path: '/api-keys',
    role: 'admin',
    nav: { group: 'System', label: 'API keys', key: 'k' },
    load: async () => (await import('./pages/keys/api-keys-page.tsx')).ApiKeysPage,
  },
  {
    path: '/signing-keys',
    role: 'admin',
    nav: { group: 'System', label: 'Signing keys' },
    load: async () => (await import('./pages/keys/signing-keys-page.tsx')).SigningKeysPage,
  },
  {
    path: '/account',
    role: 'viewer',
    load: async () => (await import('./pages/account/account-page.tsx')).AccountPage,
  },
];

/** The page behind the link that signs in a new operator; it needs no session. */
export const WELCOME_PATH = '/welcome';
