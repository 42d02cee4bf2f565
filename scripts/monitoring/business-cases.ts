/** When the alerts on payments, e-mails, jobs and agents fire, and when they do not. */
import { AGENT, type AlertCase, of } from './alert-case.ts';

const mails = (outcome: string, mail = 'key') =>
  of('latchkey_mails_total', `mail="${mail}",outcome="${outcome}"`);
const undelivered = (kind: string) => of('latchkey_undelivered', `kind="${kind}"`);
const unapplied = (status: string) => of('latchkey_payment_events_unapplied', `status="${status}"`);
const freeKeys = (product: string) => of('latchkey_key_pool_free_keys', `product="${product}"`);
const failures = (task: string) => of('latchkey_task_failures_total', `task="${task}"`);
const lastSuccess = (task: string) =>
  of('latchkey_task_last_success_timestamp_seconds', `task="${task}"`);
const jobs = (name: string) => of('latchkey_jobs', `state="${name}"`);

export const BUSINESS_CASES: Readonly<Record<string, AlertCase>> = {
  LatchkeyPaymentsFailed: {
    fires: { [unapplied('failed')]: '0 1x20', [unapplied('deferred')]: '0x20' },
    silent: { [unapplied('failed')]: '0x20', [unapplied('deferred')]: '5x20' },
    notYetAt: '5m',
  },
  LatchkeyPaymentsDeferred: {
    fires: { [unapplied('deferred')]: '1x90' },
    silent: { [unapplied('deferred')]: '1x40 0 1x40 0x20' },
    at: '65m',
    notYetAt: '55m',
  },
  LatchkeyMailFailing: {
    fires: { [mails('sent')]: '0+1x60', [mails('temporary')]: '0+2x60' },
    silent: {
      [mails('sent')]: '0+9x60',
      [mails('permanent')]: '0+5x60',
      [mails('unknown')]: '0+2x60',
    },
    at: '15m',
    notYetAt: '8m',
    also: [
      {
        when: 'when strangers enter addresses that do not exist',
        series: { [mails('permanent', 'confirmation')]: '0+2x60', [mails('sent')]: '0x60' },
        at: '15m',
        fires: false,
      },
      {
        when: 'when the relay refuses the e-mails to buyers for good',
        series: { [mails('permanent')]: '0+2x60' },
        at: '15m',
        fires: true,
      },
    ],
  },
  LatchkeyKeyEmailsUndelivered: {
    fires: { [undelivered('key_emails')]: '2x60 3x30' },
    silent: { [undelivered('key_emails')]: '3x60 2x30', [undelivered('deliveries')]: '0x60 9x30' },
    at: '65m',
    also: [
      {
        when: 'when an older one left the week as well',
        series: { [undelivered('key_emails')]: '3x30 2x20 3x30' },
        at: '65m',
        fires: true,
      },
    ],
  },
  LatchkeyWebhooksUndelivered: {
    fires: { [undelivered('deliveries')]: '0x60 9x30' },
    silent: { [undelivered('deliveries')]: '9x90', [undelivered('key_emails')]: '0x60 1x30' },
    at: '65m',
  },
  LatchkeyWebhookEndpointDisabled: {
    fires: { [undelivered('endpoints')]: '1x20' },
    silent: { [undelivered('endpoints')]: '0x20' },
    notYetAt: '4m',
  },
  LatchkeyKeyPoolLow: {
    fires: { [freeKeys('suite')]: '9x20', [freeKeys('tool')]: '500x20' },
    silent: { [freeKeys('suite')]: '10x20', [freeKeys('tool')]: '10 0x5 90x20' },
    notYetAt: '9m',
    at: '15m',
  },
  LatchkeyJobsFailed: {
    fires: { [jobs('failed')]: '1x20' },
    silent: { [jobs('failed')]: '0x20', [jobs('open')]: '900x20' },
    notYetAt: '4m',
  },
  LatchkeyJobBacklog: {
    fires: { [jobs('open')]: '1001x90' },
    silent: { [jobs('open')]: '9000x5 500 9000x90' },
    at: '15m',
    notYetAt: '9m',
  },
  LatchkeyTaskFailing: {
    fires: { [failures('backlog')]: '0+1x90', [lastSuccess('backlog')]: '0x90' },
    silent: {
      // It failed during an outage, and succeeded then.
      [failures('backlog')]: '0x9 3x90',
      [lastSuccess('backlog')]: '0+60x90',
      [failures('rollups')]: '0x9 1x90',
      [lastSuccess('rollups')]: '0x90',
    },
    at: '40m',
    notYetAt: '20m',
    also: [
      {
        when: 'when a task that runs once an hour always fails',
        series: { [failures('cleanup')]: '1x59 2x59 3x59 4x59 5x59' },
        at: '4h',
        fires: true,
      },
      {
        when: 'after a task that runs once an hour failed twice',
        series: {
          [failures('cleanup')]: '0x59 1x59 2x180',
          [lastSuccess('cleanup')]: '0x180 10800x120',
        },
        at: '4h',
        fires: false,
      },
    ],
  },
  LatchkeyReportsOutdated: {
    fires: { [of('latchkey_rollup_age_seconds')]: '7201+60x90' },
    silent: { [of('latchkey_rollup_age_seconds')]: '7100x90' },
    at: '35m',
    notYetAt: '25m',
  },
  LatchkeyRevenueOutdated: {
    fires: { [of('latchkey_revenue_delay_seconds')]: '901+60x90' },
    silent: { [of('latchkey_revenue_delay_seconds')]: '890x90' },
    at: '20m',
    notYetAt: '14m',
  },
  LatchkeyAgentDown: {
    fires: { [`up{${AGENT}}`]: '0x20' },
    silent: { [`up{${AGENT}}`]: '1 0x3 1x20', [of('up')]: '0x20' },
    notYetAt: '4m',
  },
  LatchkeyAgentProblem: {
    fires: {
      [`latchkey_notice{${AGENT},code="disk_failing",severity="error",subject="sda"}`]: '1x20',
    },
    silent: {
      [`latchkey_notice{${AGENT},code="disk_worn",severity="warning",subject="sda"}`]: '1x20',
    },
    notYetAt: '4m',
  },
  LatchkeyAgentWarning: {
    fires: {
      [`latchkey_notice{${AGENT},code="disk_worn",severity="warning",subject="sda"}`]: '1x60',
    },
    silent: {
      [`latchkey_notice{${AGENT},code="disk_failing",severity="error",subject="sda"}`]: '1x60',
    },
    at: '35m',
    notYetAt: '25m',
  },
};
