import type { Language } from '@latchkey/contract';
import type { PageContent } from '#server/pages/render-page.ts';

import type { PageFrame } from '../suppressions/page-frame.ts';

/** The texts of the pages in one language. */
interface ConfirmationTexts {
  readonly ask: string;
  readonly askAbout: (email: string, sender: string) => string;
  readonly button: string;
  readonly notYou: string;
  readonly done: string;
  readonly doneAbout: (email: string, sender: string) => string;
  readonly already: string;
  readonly alreadyAbout: (email: string, sender: string) => string;
  readonly leave: string;
  readonly over: string;
  readonly overAbout: string;
}

const texts: Readonly<Record<Language, ConfirmationTexts>> = {
  en: {
    ask: 'One last step',
    askAbout: (email, sender) => `Send news from ${sender} to ${email}?`,
    button: 'Yes, subscribe me',
    notYou: 'You did not ask for this? Just close this page, and nothing will be sent.',
    done: 'You are subscribed',
    doneAbout: (email, sender) => `From now on, you will receive news from ${sender} at ${email}.`,
    already: 'You are subscribed already',
    alreadyAbout: (email, sender) =>
      `You receive news from ${sender} at ${email}. There is nothing left to do.`,
    leave: 'Every e-mail contains a link to unsubscribe.',
    over: 'This link no longer works',
    overAbout:
      'Confirmation links work for 48 hours, and only when they are complete. If you still want our news, please subscribe again, and we will send you a new one.',
  },
  fr: {
    ask: 'Encore une étape',
    askAbout: (email) => `Souhaitez-vous recevoir nos actualités à l’adresse ${email}\u202f?`,
    button: 'Oui, je m’abonne',
    notYou:
      'La demande ne vient pas de vous\u202f? Fermez simplement cette page\u00a0: rien ne vous sera envoyé.',
    done: 'Votre abonnement est confirmé',
    doneAbout: (email) => `Nous enverrons désormais nos actualités à ${email}.`,
    already: 'Votre abonnement est déjà confirmé',
    alreadyAbout: (email) =>
      `Nos actualités sont envoyées à ${email}. Vous n’avez plus rien à faire.`,
    leave: 'Chaque e-mail contient un lien qui vous permet de vous désabonner.',
    over: 'Ce lien n’est plus valable',
    overAbout:
      'Un lien de confirmation est valable 48\u00a0heures et doit être complet. Si vous souhaitez toujours recevoir nos actualités, abonnez-vous de nouveau\u00a0: vous recevrez un nouveau lien.',
  },
  de: {
    ask: 'Nur noch ein Schritt',
    askAbout: (email, sender) => `Möchten Sie Neuigkeiten von ${sender} an ${email} erhalten?`,
    button: 'Ja, anmelden',
    notYou:
      'Sie haben das nicht angefordert? Dann schließen Sie diese Seite einfach: Es wird nichts verschickt.',
    done: 'Sie sind angemeldet',
    doneAbout: (email, sender) => `Ab jetzt erhalten Sie Neuigkeiten von ${sender} an ${email}.`,
    already: 'Sie sind bereits angemeldet',
    alreadyAbout: (email, sender) =>
      `Sie erhalten Neuigkeiten von ${sender} an ${email} und müssen nichts weiter tun.`,
    leave: 'In jeder E-Mail steht ein Link, mit dem Sie sich wieder abmelden können.',
    over: 'Dieser Link gilt nicht mehr',
    overAbout:
      'Ein Bestätigungslink gilt 48 Stunden und muss vollständig sein. Wenn Sie unsere Neuigkeiten noch möchten, melden Sie sich bitte noch einmal an, dann bekommen Sie einen neuen.',
  },
};

/** The page with the button that confirms. */
export function confirmPage(frame: PageFrame, email: string): PageContent {
  const { ask, askAbout, button, notYou } = texts[frame.language];
  return {
    ...frame,
    title: ask,
    paragraphs: [askAbout(email, frame.sender)],
    button,
    note: notYou,
  };
}

export function confirmedPage(frame: PageFrame, email: string): PageContent {
  const { done, doneAbout, leave } = texts[frame.language];
  const paragraphs = [doneAbout(email, frame.sender), leave];
  return { ...frame, title: done, paragraphs, button: null, note: null };
}

export function alreadyConfirmedPage(frame: PageFrame, email: string): PageContent {
  const { already, alreadyAbout, leave } = texts[frame.language];
  const paragraphs = [alreadyAbout(email, frame.sender), leave];
  return { ...frame, title: already, paragraphs, button: null, note: null };
}

/** The page of an expired, unknown or invalidated link. */
export function voidLinkPage(frame: PageFrame): PageContent {
  const { over, overAbout } = texts[frame.language];
  return { ...frame, title: over, paragraphs: [overAbout], button: null, note: null };
}
