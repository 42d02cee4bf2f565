import { OUTREACH_TEMPLATES, type MailTemplateItem } from '@latchkey/contract';

import { noSuch } from '#server/errors.ts';

import { LANGUAGES } from '@latchkey/contract';
import { MAIL_TEMPLATES, type MailTemplate } from './render-example.ts';

const TITLES: Readonly<Record<MailTemplate, string>> = {
  key: 'License keys after a purchase',
  replaced_key: 'A replaced license key',
  gift_sent: 'Note to the payer of a gift',
  buyer_code: 'The code for the page for buyers',
  machine_freed: 'A computer that its owner freed',
  confirmation: 'Confirmation of a subscription',
  personal: 'Outreach: personal',
  sellers: 'Outreach: sellers',
  update_personal: 'Outreach: update for personal use',
  update_sellers: 'Outreach: update for sellers',
  pi_tutorials: 'Outreach: tutorials',
};

/** Lists every mail that the service can send. */
export function listTemplates(): MailTemplateItem[] {
  return MAIL_TEMPLATES.map((name) => ({
    name,
    title: TITLES[name],
    languages: [...LANGUAGES],
    has_name: OUTREACH_TEMPLATES.some((each) => each === name),
  }));
}

/** Finds a template by its name. @throws noSuch (404) */
export function requireTemplate(name: string): MailTemplate {
  const template = MAIL_TEMPLATES.find((each) => each === name);
  if (template === undefined) throw noSuch('There is no such template.');
  return template;
}
