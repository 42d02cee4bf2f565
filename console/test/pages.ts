/** Every page of the console, for the generic checks: errors, policy, accessibility, both color schemes, both widths. */
import type { OperatorRole } from '@latchkey/contract';

import { EXPECTED_OF_AGENTS } from './play-agents.ts';

export interface PageCheck {
  /** Below `/console`; `{name}` is replaced by that name of the test data. */
  readonly path: string;
  /** Texts that must be visible. */
  readonly shows: readonly string[];
  /** The name of a button to press first, such as one that opens a dialog. */
  readonly press?: string;
  /** Default: `admin`; null: signed out. */
  readonly role?: OperatorRole | null;
  /** The problems that the page reports though nothing is wrong, such as the status of a refused request. */
  readonly expects?: readonly RegExp[];
}

/** Add a row for each of your pages, and for each state of a page that looks different. */
export const PAGE_CHECKS: readonly PageCheck[] = [
  { path: '/licenses', shows: ['Refused this week', 'Ann Example', 'Issue a license'] },
  { path: '/licenses?status=revoked', shows: ['Revoked'] },
  { path: '/licenses?search=nobody', shows: ['Nothing matches'] },
  { path: '/licenses', shows: ['Ann Example'], role: 'viewer' },
  { path: '/licenses/{licenseId}', shows: ['another one was refused', 'Free', 'Timeline'] },
  { path: '/licenses/{licenseId}', shows: ['another one was refused'], role: 'viewer' },
  { path: '/licenses/{revokedLicenseId}', shows: ['was revoked', 'Reinstate'] },
  { path: '/licenses/{workingLicenseId}', shows: ['The license works'] },
  { path: '/licenses/{hostileLicenseId}', shows: ['<img/src=x/onerror=alert(1)>'] },
  { path: '/licenses?search=Hostile', shows: ['<img/src=x/onerror=alert(1)>'] },
  { path: '/licenses/issue', shows: ['Empty fields follow the product'] },
  { path: '/licenses/import', shows: ['With a header'] },
  { path: '/sign-in', shows: ['Sign in', 'Lost your password'], role: null },
  { path: '/audit', shows: ['Audit log', 'Verify all entries', 'operator.create'] },
  { path: '/operators', shows: ['Operators', 'Add operator', 'grace@example.com'] },
  { path: '/operators/{operatorId}', shows: ['Grace Hopper', 'Change role', 'Sessions'] },
  { path: '/api-keys', shows: ['API keys', 'newsletter form', 'Replace'] },
  { path: '/signing-keys', shows: ['Signing keys', 'signing', 'Rotate'] },
  { path: '/', shows: ['What needs you', 'payment events failed', 'Daily active machines'] },
  { path: '/search?q={findEmail}', shows: ['Customer', 'grace.hopper@example.com'] },
  { path: '/trials', shows: ['TRIAL-MACHINE-01', 'converted'] },
  { path: '/trials?tab=conversion', shows: ['By week', 'What was bought'] },
  { path: '/customer?email={findEmail}', shows: ['Licenses', 'Payments', 'E-mails'] },
  { path: '/customer', shows: ['Which customer?'] },
  { path: '/machine?id={findMachine}', shows: ['GRACE-WORKSTATION-01', 'Days of use'] },
  { path: '/installs/{findInstall}', shows: ['note_saved', 'shares usage'] },
  { path: '/payments', shows: ['Payments', 'paid without license', 'Providers'] },
  { path: '/payments?state=failed', shows: ['Replay all', 'Dismiss all'] },
  { path: '/payments/paddle/{salesFailedEventId}', shows: ['does not have the form', 'Dismiss'] },
  { path: '/payments/paddle/{salesEventId}', shows: ['The event is applied.', 'ada@example.com'] },
  { path: '/webhooks', shows: ['crm.example.com', 'Add endpoint'] },
  { path: '/webhooks?tab=deliveries', shows: ['license.created', 'Replay failed'] },
  { path: '/webhooks/{salesEndpointId}', shows: ['Customer database', 'Rotate secret', 'Pause'] },
  {
    path: '/webhooks/{salesEndpointId}/{salesMessageId}',
    shows: ['answered 500', 'Payload', 'Replay'],
  },
  { path: '/mail', shows: ['ada@example.com', 'smtp_550', 'Check relay'] },
  { path: '/mail?tab=templates', shows: ['License keys after a purchase', 'German'] },
  { path: '/mail/key:paddle:{salesTransactionId}', shows: ['did not accept it', 'Send again'] },
  { path: '/mail/templates/key?language=de', shows: ['Ihre 2 Lizenzschlüssel'] },
  {
    path: '/fleet',
    shows: ['2 of 5 machines are calm', 'The disk sda is failing.', 'Needs an access token'],
    expects: EXPECTED_OF_AGENTS,
  },
  { path: '/fleet?wall', shows: ['Has not answered since'], expects: EXPECTED_OF_AGENTS },
  { path: '/fleet/servers', shows: ['latchkey-agent origins add', 'web-1.fleet.example'] },
  { path: '/fleet/servers', shows: ['Administrators change the list'], role: 'viewer' },
  { path: '/fleet/servers', press: 'Import', shows: ['Lines, or a link to a fleet page'] },
  { path: '/fleet/servers', press: 'Link', shows: ['Link to this list'] },
  { path: '/account', shows: ['Two-step sign-in', 'Sessions'] },
  { path: '/licenses/{licenseId}', press: 'Suspend', shows: ['Recorded in the audit log.'] },
  { path: '/payments?state=failed', press: 'Replay all', shows: ['the oldest first'] },
  { path: '/webhooks/{salesEndpointId}', press: 'Edit', shows: ['Description'] },
  { path: '/outreach/{sendingId}', press: 'Cancel sending', shows: ['cannot be taken back'] },
  { path: '/mail', press: 'Check relay', shows: ['Cancel'] },
  { path: '/subscribers/{subscriberId}', press: 'Unsubscribe', shows: ['can subscribe again'] },
  { path: '/subscribers/{subscriberId}', press: 'Erase', shows: ['under the GDPR'] },
  { path: '/suppressions', press: 'Suppress an address', shows: ['Recorded in the audit log.'] },
  { path: '/operators', press: 'Add operator', shows: ['E-mail address', 'Role'] },
  { path: '/operators/{operatorId}', press: 'Change role', shows: ['have the new role at once'] },
  {
    path: '/operators/{operatorId}',
    press: 'New link',
    shows: ['The previous link stops working'],
  },
  { path: '/operators/{operatorId}', press: 'Disable', shows: ['is signed out everywhere'] },
  { path: '/account', press: 'Change password', shows: ['At least 12 characters'] },
  { path: '/account', press: 'Turn on', shows: ['Scan this code', 'Or enter the key'] },
  { path: '/account', press: 'Help', shows: ['Close a dialog'] },
  { path: '/welcome#none', shows: ['This link does not work'], role: null },
  { path: '/no-such-page', shows: ['There is no page at this address.'] },
  { path: '/subscribers', shows: ['Subscribers', 'person-1@example.org', 'Export CSV'] },
  { path: '/subscribers?state=pending', shows: ['Pending', 'mail failed'] },
  { path: '/subscribers/{subscriberId}', shows: ['person-1@example.org', 'Unsubscribe', 'Erase'] },
  { path: '/subscribers/{subscriberId}', shows: ['Double: confirmed'], role: 'viewer' },
  { path: '/suppressions', shows: ['Suppressed addresses', 'Allow mail'] },
  { path: '/outreach', shows: ['Outreach', 'Write a mail', 'Version 1.9'] },
  { path: '/outreach/new', shows: ['New mail', 'Start from a template', 'Check who gets it'] },
  { path: '/outreach/{draftId}', shows: ['Version 2.0', 'Review and send', 'Recipients'] },
  { path: '/outreach/{sendingId}', shows: ['Autumn news', 'Resume', 'Cancel sending'] },
  { path: '/outreach/{sentId}', shows: ['Version 1.9', 'Unsubscribed after', 'smtp_550'] },
  { path: '/outreach/{sentId}?tab=messages', shows: ['reader-10@example.org', 'Failed'] },
  { path: '/outreach/{sentId}?tab=mail', shows: ['Desktop', 'Phone'] },
  { path: '/usage', shows: ['Active machines', '2.4.0', 'Peak day'] },
  { path: '/usage?by=week&days=90&group=platform', shows: ['macOS', 'This week'] },
  { path: '/usage?group=retention', shows: ['First week'] },
  { path: '/usage?from=2001-01-01&to=2001-01-31', shows: ['No use in these days'] },
  { path: '/events', shows: ['export_finished', 'usage sharing off', 'Find single events'] },
  { path: '/events?search=nothing', shows: ['No event matches'] },
  { path: '/events?from=2001-01-01&to=2001-01-31', shows: ['No events in these days'] },
  { path: '/events/details?name=export_finished', shows: ['format', 'By day', 'Most installs'] },
  { path: '/events/details?name=export_finished&key=format', shows: ['pdf', 'Values of'] },
  { path: '/events/stored/{eventId}', shows: ['export_finished', 'Properties'] },
  { path: '/catalog', shows: ['Products', 'Payment providers', 'Mail'] },
  { path: '/health', shows: ['Uptime', 'Backlog', 'Checks'], role: 'viewer' },
  { path: '/health?tab=doctor', shows: ['Not checked yet'] },
  { path: '/health?tab=database', shows: ['Largest tables'] },
  { path: '/health?tab=settings', shows: ['Secrets are never shown'] },
  { path: '/jobs', shows: ['Send key email', 'txn_failed', 'Retry failed jobs'] },
  { path: '/jobs?tab=tasks', shows: ['Roll up usage and events', 'Paddle answered 401'] },
];
