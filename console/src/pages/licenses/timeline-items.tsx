import type { LicenseTimelineItem } from '@latchkey/contract';
import type { ComponentChildren } from 'preact';

import { hrefOf } from '#console/app/router.ts';
import type { Tone } from '#console/ui/badge.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { Time } from '#console/ui/time.tsx';
import type { TimelineItem } from '#console/ui/timeline.tsx';
import { labelOf, nameActor, sentenceCase } from '#console/ui/labels.ts';

import type { TimelineGroup } from './group-raw-events.ts';
import { labelOfRefusal } from './license-labels.ts';

/** Returns a group of items as the timeline shows it. */
export function toTimelineItem({ first, items }: TimelineGroup): TimelineItem {
  const { kind } = first;
  if (items.length === 1) {
    return {
      id: first.id,
      at: first.occurred_at,
      tone: toneOf(first),
      title: titleOf(first),
      detail: detailOf(first),
      more: moreOf(first),
    };
  }
  return {
    id: first.id,
    at: first.occurred_at,
    tone: toneOf(first),
    title: `${items.length} ${GROUP_NAMES[kind] ?? 'events'}`,
    detail: titleOf(first),
    more: (
      <ul class="raw-events">
        {items.map((item) => (
          <li key={item.id}>
            <span>{titleOf(item)}</span> <Time at={item.occurred_at} />
            <span class="dim">{describeId(item)}</span>
          </li>
        ))}
      </ul>
    ),
  };
}

const GROUP_NAMES: Readonly<Record<string, string>> = {
  payment: 'payment events',
  webhook: 'outgoing webhooks',
  refusal: 'days with refused requests',
};

const AUDIT_TITLES: Readonly<Record<string, string>> = {
  'license.issue': 'Issued',
  'license.suspend': 'Suspended',
  'license.reinstate': 'Reinstated',
  'license.revoke': 'Revoked',
  'license.extend': 'End changed',
  'license.change_updates': 'End of updates changed',
  'license.allow_move': 'Move allowed',
  'license.change_limit': 'Machine limit changed',
  'license.apply_catalog': 'Catalogue applied',
  'license.change_owner': 'Customer or note changed',
  'license.rekey': 'Key replaced',
  'license.reveal': 'Key revealed',
  'license.resend_key': 'Key sent again',
  'license.free_machine': 'Machine freed',
  'license.export_timeline': 'Timeline exported',
  'mail.resend': 'Key e-mail sent again',
};

const MAIL_TITLES: Readonly<Record<string, string>> = {
  sent: 'E-mail with the key sent',
  waiting: 'E-mail with the key waits',
  sending: 'E-mail with the key is being sent',
  refused: 'E-mail with the key refused',
  withheld: 'E-mail with the key withheld',
};

function titleOf(item: LicenseTimelineItem): string {
  const { kind, code, details } = item;
  switch (kind) {
    case 'audit':
      return AUDIT_TITLES[code] ?? sentenceCase(code.replaceAll(/[._]/g, ' '));
    case 'payment':
      return `Payment event: ${labelOf(code).replaceAll('.', ' ')}`;
    case 'mail':
      return MAIL_TITLES[code] ?? `E-mail: ${labelOf(code)}`;
    case 'machine':
      return code === 'activated' ? 'Machine activated' : 'Machine deactivated';
    case 'refusal':
      return `Refused ${String(details['refusals'])}×: ${labelOfRefusal(code)}`;
    case 'webhook':
      return `Webhook: ${labelOf(code).replaceAll('.', ' ')}`;
    case 'license':
      return details['trial'] === true ? 'Trial started' : 'License created';
  }
}

const BAD = new Set(['license.suspend', 'license.revoke', 'refused', 'withheld']);
const GOOD = new Set(['license.reinstate', 'activated', 'sent', 'created']);

function toneOf({ kind, code, details }: LicenseTimelineItem): Tone {
  if (kind === 'refusal' || details['status'] === 'failed' || BAD.has(code)) return 'bad';
  if (details['status'] === 'deferred' || code === 'waiting') return 'warning';
  if (GOOD.has(code)) return 'good';
  return kind === 'audit' ? 'info' : 'muted';
}

function detailOf({ kind, actor, reason, details }: LicenseTimelineItem): ComponentChildren {
  if (kind === 'audit') {
    const who = nameActor(actor ?? '');
    return reason === null ? who : `${who}: ${reason}`;
  }
  if (kind === 'machine') {
    const version = details['app_version'];
    const machine = details['machine_id'] ?? details['activation_id'];
    return (
      <>
        <code>{String(machine)}</code>
        {version !== null && version !== undefined && ` · version ${String(version)}`}
      </>
    );
  }
  return reason === null ? undefined : sentenceCase(labelOf(reason));
}

/** The raw values, folded. */
function moreOf({ kind, details }: LicenseTimelineItem): ComponentChildren {
  if (kind === 'machine' || kind === 'license' || kind === 'refusal') return undefined;
  const shown = Object.entries(details).filter(([, value]) => value !== null);
  if (shown.length === 0) return undefined;
  const { provider, event_id: event } = details;
  return (
    <>
      <Facts items={shown.map(([name, value]) => [sentenceCase(labelOf(name)), String(value)])} />
      {kind === 'payment' && (
        <a href={hrefOf(`/payments/${String(provider)}/${encodeURIComponent(String(event))}`)}>
          Open the payment event
        </a>
      )}
    </>
  );
}

function describeId({ details }: LicenseTimelineItem): string {
  const id = details['event_id'] ?? details['message_id'];
  return id === undefined ? '' : ` ${String(id)}`;
}
