/** Outreach of operators: campaigns that were sent, one that was paused, one that was canceled, and a draft. */
import type { CampaignAudience, Language } from '@latchkey/contract';

import {
  cancelCampaign,
  pauseCampaign,
} from '#server/features/outreach/campaigns/control-campaign.ts';
import { createDraft } from '#server/features/outreach/campaigns/edit-campaign.ts';
import { createCampaignQueue } from '#server/features/outreach/campaigns/send-campaigns.ts';
import { startCampaign } from '#server/features/outreach/campaigns/start-campaign.ts';

import { DAY_MS } from '../time.ts';
import { ADMIN, SECOND_ADMIN } from './people.ts';
import type { Action, World } from './world.ts';

interface Text {
  readonly subject: string;
  readonly preview: string;
  readonly text: string;
}

interface DemoCampaign {
  readonly daysAgo: number;
  readonly name: string;
  readonly audience: CampaignAudience;
  readonly texts: Partial<Record<Language, Text>>;
  readonly end: 'sent' | 'paused' | 'canceled' | 'draft';
}

const EVERYBODY = { languages: [], products: [], statuses: [] };

const RELEASE: Partial<Record<Language, Text>> = {
  en: {
    subject: '{{product}} {{version}} follows your pen',
    preview: 'Pressure, faster PDFs, fonts in the background',
    text: '{{product}} {{version}} is here.\n\n- Strokes follow the pressure of your pen.\n- Exports to PDF are twice as fast.\n- Fonts load in the background.\n\n[[Download {{version}}]]({{download_url}})\n\n[All changes]({{news_url}})',
  },
  fr: {
    subject: '{{product}} {{version}} suit votre stylet',
    preview: 'Pression, PDF plus rapides, polices en arrière-plan',
    text: '{{product}} {{version}} est disponible.\n\n- Le trait suit la pression du stylet.\n- L’export en PDF est deux fois plus rapide.\n\n[[Télécharger]]({{download_url}})',
  },
  de: {
    subject: '{{product}} {{version}} folgt dem Stift',
    preview: 'Druckempfindlich, schnellere PDFs, Schriften im Hintergrund',
    text: '{{product}} {{version}} ist da.\n\n- Striche folgen dem Druck des Stifts.\n- Der PDF-Export ist doppelt so schnell.\n\n[[Herunterladen]]({{download_url}})',
  },
};

function write(subject: string, preview: string, text: string): Text {
  return { subject, preview, text };
}

const CAMPAIGNS: readonly DemoCampaign[] = [
  {
    daysAgo: 23.4,
    name: 'Version 4.0',
    audience: { source: 'customers', ...EVERYBODY, statuses: ['active', 'past_due'] },
    texts: RELEASE,
    end: 'sent',
  },
  {
    daysAgo: 9.3,
    name: 'Newsletter, November',
    audience: { source: 'subscribers', ...EVERYBODY },
    texts: {
      en: write(
        'Three ways to a cleaner path',
        'A short lesson for November',
        'This month: fewer points, smoother curves.\n\n1. Draw first, simplify later.\n2. Pull handles along the curve.\n3. Let the knife close the shape.\n\n[[Watch the lesson]]({{tutorials_url}})',
      ),
      de: write(
        'Drei Wege zum sauberen Pfad',
        'Eine kurze Lektion für November',
        'diesen Monat: weniger Punkte, glattere Kurven.\n\n[[Zur Lektion]]({{tutorials_url}})',
      ),
    },
    end: 'sent',
  },
  {
    daysAgo: 5.2,
    name: 'Studios in German',
    audience: { source: 'customers', languages: [], products: ['home'], statuses: ['active'] },
    texts: {
      de: write(
        'Contour Studio für Ihr Team',
        'Ein Angebot',
        'Studio kann Druckproben.\n\n[[Mehr erfahren]]({{sellers_url}})',
      ),
    },
    end: 'canceled',
  },
  {
    daysAgo: 0.9,
    name: 'Fix in 4.0.1',
    audience: { source: 'customers', languages: [], products: ['studio'], statuses: ['active'] },
    texts: {
      en: write(
        'The font crash is fixed',
        'Update to 4.0.1',
        'Version 4.0.0 could crash while it loaded fonts. 4.0.1 does not.\n\n[[Update]]({{download_url}})',
      ),
    },
    end: 'paused',
  },
  {
    daysAgo: 0.3,
    name: 'Advent offer',
    audience: { source: 'subscribers', ...EVERYBODY },
    texts: {
      en: write(
        'A quiet week of drawing',
        'Studio at half price until Sunday',
        'Until Sunday a year of Studio costs half.\n\n[[Look at Studio]]({{sellers_url}})',
      ),
      fr: write(
        'Une semaine calme pour dessiner',
        'Studio à moitié prix jusqu’à dimanche',
        'Jusqu’à dimanche, un an de Studio coûte moitié moins.\n\n[[Découvrir Studio]]({{sellers_url}})',
      ),
      de: write(
        'Eine ruhige Woche zum Zeichnen',
        'Studio bis Sonntag zum halben Preis',
        'bis Sonntag kostet ein Jahr Studio die Hälfte.\n\n[[Studio ansehen]]({{sellers_url}})',
      ),
    },
    end: 'draft',
  },
];

/** The campaigns, in the order of time. */
export function listCampaigns({ context, nowMs }: World): Action[] {
  return CAMPAIGNS.map((campaign) => ({
    atMs: nowMs - campaign.daysAgo * DAY_MS,
    run: () => runCampaign(context, campaign),
  }));
}

async function runCampaign(
  context: World['context'],
  { audience, end, name, texts }: DemoCampaign,
): Promise<void> {
  const { actor } = end === 'paused' ? SECOND_ADMIN : ADMIN;
  const [defaultLanguage] = texts.en === undefined ? (['de'] as const) : (['en'] as const);
  const draft = await createDraft(context, { name, texts, defaultLanguage, audience }, actor);
  if (end === 'draft') return;
  const request = { version: draft.version, maxRecipients: 1_000_000, list: null, actor };
  await startCampaign(context, draft.id, request);
  if (end === 'paused') {
    await pauseCampaign(context, draft.id, { actor, reason: 'Wait for the signed installer' });
  } else if (end === 'canceled') {
    await cancelCampaign(context, draft.id, { actor, reason: 'The price in the text is wrong' });
  } else await send(context);
}

/** Sends like the background of the service. */
async function send(context: World['context']): Promise<void> {
  const queue = createCampaignQueue(context);
  const [claimed] = await queue.claim(new Set());
  if (claimed !== undefined) await queue.process(claimed, new AbortController().signal);
}
