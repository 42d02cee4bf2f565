/** Subscribers, suppressions and campaigns, with hostile names. */
import type { CampaignAudience, CampaignTexts } from '@latchkey/contract';

import { createDraft } from '../../../server/src/features/outreach/campaigns/edit-campaign.ts';
import type { TestService } from '../../../server/test/harness.ts';
import {
  hashAddress,
  subscriberIdOf,
} from '../../../server/src/features/suppressions/address-hash.ts';

import type { World } from './create-world.ts';

const DAY_MS = 86_400_000;

const LANGUAGES = ['en', 'de', 'fr'];
const REASONS = ['unsubscribed', 'by_hand', 'bounced'];

const AUDIENCE: CampaignAudience = {
  source: 'subscribers',
  languages: [],
  products: [],
  statuses: [],
};

const TEXTS = {
  en: {
    subject: '{{product}} 2.0 is here',
    preview: 'Faster, and in your language.',
    text: 'Version 2.0 of {{product}} is ready.\n\n# What is new\n\n- It starts twice as fast.\n- Dark mode, at last.\n\n[[Get the new version]]({{download_url}})\n\n[All changes]({{news_url}})\n\nReply if something does not work. I read every answer.',
  },
  de: {
    subject: '{{product}} 2.0 ist da',
    preview: 'Schneller und dunkler.',
    text: 'Version 2.0 von {{product}} ist fertig.\n\n[[Neue Version holen]]({{download_url}})',
  },
};

/** Creates the data of subscribers, suppressions and outreach. */
export async function createAudience(service: TestService): Promise<World> {
  await createSubscribers(service);
  const { id: draftId } = await create(service, { name: 'Version 2.0', texts: TEXTS });
  const hostile = '<script>alert(1)</script> \u202Eevil \u{1F469}\u200D\u{1F680} '.repeat(4);
  await create(service, { name: hostile.slice(0, 200), texts: { en: TEXTS.en } });
  const { id: sentId } = await create(service, { name: 'Version 1.9', texts: TEXTS });
  await finish(service, sentId);
  const { id: sendingId } = await create(service, { name: 'Autumn news', texts: TEXTS });
  await service.pool.query(
    `update outreach_campaigns set state = 'paused', started_at = $2, started_by = 'operator:anna@example.com',
       total = 1200, sent = 480, suppressed = 12, problem = 'connection', problem_since = $2
     where id = $1`,
    [sendingId, new Date(service.clock.now().getTime() - 3_600_000)],
  );
  const subscriberId = idOf(service, 'person-1@example.org');
  const pendingSubscriberId = idOf(service, 'person-5@example.org');
  return { draftId, sentId, sendingId, subscriberId, pendingSubscriberId };
}

const idOf = ({ context }: TestService, email: string): string =>
  subscriberIdOf(context.vault, hashAddress(context.vault, email));

async function createSubscribers(service: TestService): Promise<void> {
  const { clock, context, pool } = service;
  const long = `${'x'.repeat(60)}@${'long-name-of-a-domain-'.repeat(2)}example.com`;
  const emails = Array.from({ length: 70 }, (_, index) => `person-${index}@example.org`);
  for (const [index, email] of [...emails, long].entries()) {
    const at = new Date(clock.now().getTime() - index * DAY_MS * 0.7);
    const hash = hashAddress(context.vault, email);
    const isConfirmed = index % 5 !== 0;
    await pool.query(
      `insert into subscribers (address_hash, id, email, language, first_subscribed_at, subscribed_at,
         confirmed_at, opt_in, confirmation_mailed_at, confirmation_problem)
       values (decode($1, 'hex'), $2, $3, $4, $5, $5, $6, $7, $5, $8)`,
      [
        hash,
        idOf(service, email),
        email,
        LANGUAGES[index % 3],
        at,
        isConfirmed ? at : null,
        isConfirmed ? 'double' : null,
        index === 10 ? 'smtp_550' : null,
      ],
    );
    if (index % 9 === 4) {
      await pool.query(
        `insert into suppressions (address_hash, reason, suppressed_at) values (decode($1, 'hex'), $2, $3)`,
        [hash, REASONS[((index - 4) / 9) % 3], at],
      );
    }
  }
}

function create(
  { context }: TestService,
  { name, texts }: { readonly name: string; readonly texts: CampaignTexts },
): Promise<{ readonly id: string }> {
  const content = { name, texts, defaultLanguage: 'en', audience: AUDIENCE } as const;
  return createDraft(context, content, 'operator:anna@example.com');
}

/** Stores a sent campaign with outcomes. */
async function finish({ clock, context, pool }: TestService, id: string): Promise<void> {
  const startedAt = new Date(clock.now().getTime() - 2 * DAY_MS);
  const endedAt = new Date(startedAt.getTime() + 8 * 60_000);
  const errors = ['smtp_550: mailbox unavailable', 'smtp_452: over quota', 'suppressed'];
  for (let position = 0; position < 60; position += 1) {
    const email = `reader-${position}@example.org`;
    const error = position < 5 ? errors[position % 3] : null;
    const name = position === 7 ? '<b>Bobby</b> \u202E tables' : `Reader ${position}`;
    const hash = hashAddress(context.vault, email);
    await pool.query(
      `with recipient as (
         insert into outreach_recipients (campaign_id, position, address_hash, email, name, created_at)
         values ($1, $2, decode($3, 'hex'), $4, $5, $6)
       )
       insert into outreach_messages (request_id, position, template, language, address_hash, message_id, state,
         error, created_at, ended_at)
       values ($1, $2, 'Version 1.9', $7, decode($3, 'hex'), '<m@example.com>', $8, $9, $6, $10)`,
      [
        id,
        position,
        hash,
        email,
        name,
        startedAt,
        position % 4 === 0 ? 'de' : 'en',
        error === null ? 'sent' : 'failed',
        error,
        endedAt,
      ],
    );
  }
  await pool.query(
    `update outreach_campaigns set state = 'sent', started_at = $2, started_by = 'operator:anna@example.com',
       ended_at = $3, total = 60, sent = 55, failed = 4, suppressed = 1, duplicates = 2 where id = $1`,
    [id, startedAt, endedAt],
  );
}
