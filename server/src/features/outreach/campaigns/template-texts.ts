import {
  LANGUAGES,
  OUTREACH_TEMPLATES,
  type CampaignText,
  type CampaignTexts,
  type Language,
  type OutreachTemplate,
} from '@latchkey/contract';

import type { OutreachLink } from '#server/config/catalog-model.ts';
import type { CatalogOutreach } from '#server/config/catalog.ts';

import { languages, LAYOUTS } from '../templates/render-template.ts';

const LINKS: Readonly<Record<OutreachLink, string>> = {
  download: '{{download_url}}',
  sellers: '{{sellers_url}}',
  tutorials: '{{tutorials_url}}',
  news: '{{news_url}}',
};

/** Writes every template as the texts of a campaign, which an operator edits. */
export function writeTemplateTexts(
  outreach: CatalogOutreach,
): { template: OutreachTemplate; texts: CampaignTexts }[] {
  return OUTREACH_TEMPLATES.map((template) => ({
    template,
    texts: Object.fromEntries(
      LANGUAGES.map((language) => [language, writeText(template, language, outreach)]),
    ),
  }));
}

function writeText(
  template: OutreachTemplate,
  language: Language,
  outreach: CatalogOutreach,
): CampaignText {
  const common = languages[language];
  const { button, shows } = LAYOUTS[template];
  const texts = common[template]({
    name: null,
    productName: '{{product}}',
    sender: '{{sender}}',
    links: LINKS,
    about: null,
    version: outreach.version === null ? null : '{{version}}',
    highlights: [],
    postalAddress: null,
    unsubscribeUrl: '',
  });
  const highlights = shows === 'news' ? outreach.highlights[language] : [];
  const parts = [
    texts.opening,
    shows === 'about' ? outreach.about[language] : null,
    ...writeList(highlights.length > 0 ? common.newsHeading : null, highlights),
    texts.details,
    ...writeList(texts.points?.heading ?? null, texts.points?.items ?? []),
    `[[${texts.button}]](${LINKS[button]})`,
    texts.link === undefined ? null : `[${texts.link}](${LINKS.news})`,
    texts.ending,
  ];
  return {
    subject: texts.subject,
    preview: texts.preview,
    text: parts.filter((part) => part !== null && part !== undefined).join('\n\n'),
  };
}

function writeList(heading: string | null, items: readonly string[]): (string | null)[] {
  return [
    heading === null ? null : `# ${heading}`,
    items.length === 0 ? null : items.map((item) => `- ${item}`).join('\n'),
  ];
}
