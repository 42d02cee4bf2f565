import type { Language } from '@latchkey/contract';
import type { PageContent } from '#server/pages/render-page.ts';

import type { PageFrame } from './page-frame.ts';

/** The texts of the pages in one language. */
interface UnsubscribeTexts {
  readonly ask: string;
  readonly askAbout: (email: string, sender: string) => string;
  readonly button: string;
  /** Which e-mails are still sent. */
  readonly stillSent: string;
  readonly done: string;
  readonly doneAbout: (email: string, sender: string) => string;
  readonly again: string;
  readonly broken: string;
  readonly brokenAbout: string;
  readonly write: (contact: string) => string;
}

const texts: Readonly<Record<Language, UnsubscribeTexts>> = {
  en: {
    ask: 'Do you want to unsubscribe?',
    askAbout: (email, sender) => `${email} will no longer receive news and offers from ${sender}.`,
    button: 'Unsubscribe',
    stillSent: 'You will still receive e-mails about your purchases, such as your license keys.',
    done: 'You are unsubscribed',
    doneAbout: (email, sender) => `${email} no longer receives news and offers from ${sender}.`,
    again: 'Changed your mind? You can subscribe again at any time.',
    broken: 'This link does not work',
    brokenAbout:
      'It may be incomplete. Please open it directly from the e-mail again, or copy the whole link.',
    write: (contact) => `If that does not help, write to ${contact}, and we will take care of it.`,
  },
  fr: {
    ask: 'Souhaitez-vous vous désabonner\u202f?',
    askAbout: (email) => `${email} ne recevra plus nos actualités ni nos offres.`,
    button: 'Me désabonner',
    stillSent:
      'Vous continuerez à recevoir les e-mails liés à vos achats, par exemple vos clés de licence.',
    done: 'Votre désabonnement est pris en compte',
    doneAbout: (email) => `${email} ne reçoit plus nos actualités ni nos offres.`,
    again: 'Vous avez changé d’avis\u202f? Vous pouvez vous réabonner à tout moment.',
    broken: 'Ce lien ne fonctionne pas',
    brokenAbout:
      'Il est peut-être incomplet. Rouvrez-le directement depuis l’e-mail ou copiez-le en entier.',
    write: (contact) =>
      `Si cela ne suffit pas, écrivez à ${contact}\u00a0: nous nous en occuperons.`,
  },
  de: {
    ask: 'Möchten Sie sich abmelden?',
    askAbout: (email, sender) =>
      `${email} erhält dann keine Neuigkeiten und Angebote von ${sender} mehr.`,
    button: 'Abmelden',
    stillSent:
      'E-Mails zu Ihren Käufen, zum Beispiel Ihre Lizenzschlüssel, bekommen Sie weiterhin.',
    done: 'Sie sind abgemeldet',
    doneAbout: (email, sender) =>
      `${email} erhält keine Neuigkeiten und Angebote von ${sender} mehr.`,
    again: 'Sie haben es sich anders überlegt? Sie können sich jederzeit wieder anmelden.',
    broken: 'Dieser Link funktioniert nicht',
    brokenAbout:
      'Vielleicht ist er unvollständig. Öffnen Sie ihn bitte noch einmal direkt aus der E-Mail oder kopieren Sie ihn ganz.',
    write: (contact) =>
      `Falls das nicht hilft, schreiben Sie bitte an ${contact}, dann kümmern wir uns darum.`,
  },
};

/** The page with the button that unsubscribes. */
export function confirmUnsubscribePage(frame: PageFrame, email: string): PageContent {
  const { ask, askAbout, button, stillSent } = texts[frame.language];
  const paragraphs = [askAbout(email, frame.sender)];
  return { ...frame, title: ask, paragraphs, button, note: stillSent };
}

export function unsubscribedPage(frame: PageFrame, email: string): PageContent {
  const { done, doneAbout, stillSent, again } = texts[frame.language];
  const paragraphs = [doneAbout(email, frame.sender), again];
  return { ...frame, title: done, paragraphs, button: null, note: stillSent };
}

/** The page of an invalid link. */
export function brokenLinkPage(frame: PageFrame): PageContent {
  const { broken, brokenAbout, write } = texts[frame.language];
  const { contact } = frame;
  const paragraphs = [brokenAbout, ...(contact === null ? [] : [write(contact)])];
  return { ...frame, title: broken, paragraphs, button: null, note: null };
}
