import { renderMail, type RenderedMail } from '#server/mail/render-mail.ts';
import type { Language } from '@latchkey/contract';

/** The texts of the confirmation e-mail in one language. */
interface ConfirmationMailTexts {
  readonly subject: string;
  readonly greeting: string;
  readonly ask: (sender: string) => string;
  readonly button: string;
  readonly notYou: string;
  readonly sentTo: (email: string) => string;
  readonly never: string;
}

const confirmationMailTexts: Readonly<Record<Language, ConfirmationMailTexts>> = {
  en: {
    subject: 'Please confirm your subscription',
    greeting: 'Hello,',
    ask: (sender) =>
      `You asked for news from ${sender} at this address. Please confirm that it was you.`,
    button: 'Confirm my subscription',
    notYou:
      'The link works for 48 hours. If it was not you, just ignore this e-mail: we will send nothing else.',
    sentTo: (email) =>
      `This e-mail was sent to ${email} because the address was entered in a form.`,
    never: 'Stop e-mails like this',
  },
  fr: {
    subject: 'Veuillez confirmer votre abonnement',
    greeting: 'Bonjour,',
    ask: () =>
      'Vous avez demandé à recevoir nos actualités à cette adresse. Pour vous abonner, il ne vous reste plus qu’à confirmer que la demande vient bien de vous.',
    button: 'Confirmer mon abonnement',
    notYou:
      'Ce lien est valable 48\u00a0heures. Si la demande ne vient pas de vous, ignorez simplement cet e-mail\u00a0: nous ne vous enverrons rien d’autre.',
    sentTo: (email) =>
      `Cet e-mail a été envoyé à ${email}, car cette adresse a été saisie dans un formulaire.`,
    never: 'Je ne veux plus recevoir d’e-mails de ce type',
  },
  de: {
    subject: 'Bitte bestätigen Sie Ihre Anmeldung',
    greeting: 'Guten Tag,',
    ask: (sender) =>
      `Sie haben mit dieser Adresse Neuigkeiten von ${sender} bestellt. Bitte bestätigen Sie noch, dass Sie es waren, dann sind Sie dabei.`,
    button: 'Anmeldung bestätigen',
    notYou:
      'Der Link gilt 48 Stunden. Wenn Sie es nicht waren, ignorieren Sie diese E-Mail einfach: Wir schicken Ihnen dann nichts weiter.',
    sentTo: (email) =>
      `Diese E-Mail ging an ${email}, weil die Adresse in ein Formular eingetragen wurde.`,
    never: 'Ich möchte keine solchen E-Mails',
  },
};

export interface ConfirmationMailFacts {
  readonly sender: string;
  readonly email: string;
  readonly confirmUrl: string;
  readonly unsubscribeUrl: string;
}

/** Renders the e-mail that asks the owner of an address to confirm the subscription. */
export function renderConfirmationMail(
  language: Language,
  { sender, email, confirmUrl, unsubscribeUrl }: ConfirmationMailFacts,
): RenderedMail {
  const texts = confirmationMailTexts[language];
  const ask = texts.ask(sender);
  return renderMail({
    language,
    subject: texts.subject,
    preview: ask,
    blocks: [
      { kind: 'title', text: texts.subject },
      { kind: 'paragraph', text: texts.greeting },
      { kind: 'paragraph', text: ask },
      { kind: 'button', text: texts.button, url: confirmUrl },
      { kind: 'paragraph', text: texts.notYou },
      { kind: 'lines', lines: [sender] },
    ],
    footer: [texts.sentTo(email), { text: texts.never, url: unsubscribeUrl }],
  });
}
