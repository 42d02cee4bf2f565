import { renderMail, type RenderedMail } from '#server/mail/render-mail.ts';
import type { Language } from '@latchkey/contract';

interface FreedMailTexts {
  readonly subject: (product: string) => string;
  readonly greeting: string;
  readonly freed: (product: string) => string;
  readonly machine: string;
  readonly when: (date: string) => string;
  readonly meaning: string;
  readonly notYou: (contact: string | null) => string;
}

const texts: Readonly<Record<Language, FreedMailTexts>> = {
  en: {
    subject: (product) => `A computer was removed from your license for ${product}`,
    greeting: 'Hello,',
    freed: (product) => `This computer was removed from your license for ${product}:`,
    machine: 'Computer',
    when: (date) => `On ${date}, on our page for customers.`,
    meaning:
      'Its place is free for another computer. The software on it may still run until it next needs the internet.',
    notYou: (contact) =>
      `It was not you? Then somebody else may have your license key. ${contact === null ? 'Please write to us' : `Please write to ${contact}`}, and you get a new one.`,
  },
  fr: {
    subject: (product) => `Un ordinateur a été retiré de votre licence ${product}`,
    greeting: 'Bonjour,',
    freed: (product) => `Cet ordinateur a été retiré de votre licence ${product}\u00a0:`,
    machine: 'Ordinateur',
    when: (date) => `Le ${date}, sur notre page pour les clients.`,
    meaning:
      'Sa place est libre pour un autre ordinateur. Le logiciel peut encore y fonctionner jusqu’à ce qu’il ait de nouveau besoin d’Internet.',
    notYou: (contact) =>
      `Ce n’était pas vous\u202f? Quelqu’un d’autre possède peut-être votre clé de licence. ${contact === null ? 'Écrivez-nous' : `Écrivez à ${contact}`}, et vous en recevrez une nouvelle.`,
  },
  de: {
    subject: (product) => `Ein Computer wurde aus Ihrer Lizenz für ${product} entfernt`,
    greeting: 'Guten Tag,',
    freed: (product) => `dieser Computer wurde aus Ihrer Lizenz für ${product} entfernt:`,
    machine: 'Computer',
    when: (date) => `Am ${date}, auf unserer Seite für Kunden.`,
    meaning:
      'Sein Platz ist frei für einen anderen Computer. Die Software läuft dort vielleicht noch, bis sie das nächste Mal das Internet braucht.',
    notYou: (contact) =>
      `Das waren nicht Sie? Dann hat vielleicht jemand anders Ihren Lizenzschlüssel. ${contact === null ? 'Bitte schreiben Sie uns' : `Bitte schreiben Sie an ${contact}`}, dann bekommen Sie einen neuen.`,
  },
};

export interface FreedMailFacts {
  readonly productName: string;
  readonly sender: string;
  /** The address for questions; null: unknown. */
  readonly contact: string | null;
  readonly machine: string;
  /** Date and time, formatted. */
  readonly freedAt: string;
}

/** Renders the e-mail to the owner of a license about a machine that was deactivated on the page for buyers. */
export function renderFreedMail(
  language: Language,
  { productName, sender, contact, machine, freedAt }: FreedMailFacts,
): RenderedMail {
  const text = texts[language];
  const subject = text.subject(productName);
  return renderMail({
    language,
    subject,
    preview: text.freed(productName),
    blocks: [
      { kind: 'title', text: subject },
      { kind: 'paragraph', text: text.greeting },
      { kind: 'paragraph', text: text.freed(productName) },
      { kind: 'code', label: text.machine, code: machine, note: text.when(freedAt) },
      { kind: 'paragraph', text: text.meaning },
      { kind: 'paragraph', text: text.notYou(contact) },
    ],
    footer: [sender],
  });
}
