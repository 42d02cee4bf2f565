import { renderMail, type RenderedMail } from '#server/mail/render-mail.ts';
import type { Language } from '@latchkey/contract';

interface CodeMailTexts {
  readonly subject: string;
  readonly greeting: string;
  readonly here: string;
  readonly label: string;
  readonly term: string;
  readonly secret: string;
  readonly notYou: string;
  readonly sentTo: (email: string) => string;
}

const texts: Readonly<Record<Language, CodeMailTexts>> = {
  en: {
    subject: 'Your code for your licenses',
    greeting: 'Hello,',
    here: 'Enter this code on the page on which you asked for it, in the same browser.',
    label: 'Code',
    term: 'It works once, within 15 minutes.',
    secret:
      'Give the code to nobody, not even to somebody who calls you in our name: it opens all your licenses.',
    notYou:
      'You did not ask for a code? Then ignore this e-mail. Without the code, nobody sees your licenses.',
    sentTo: (email) =>
      `This e-mail was sent to ${email} because the address was entered on our page for customers.`,
  },
  fr: {
    subject: 'Votre code pour accéder à vos licences',
    greeting: 'Bonjour,',
    here: 'Saisissez ce code sur la page où vous l’avez demandé, dans le même navigateur.',
    label: 'Code',
    term: 'Il est valable une seule fois, pendant 15\u00a0minutes.',
    secret:
      'Ne communiquez ce code à personne, même à quelqu’un qui vous appelle en notre nom\u00a0: il donne accès à toutes vos licences.',
    notYou:
      'Vous n’avez pas demandé de code\u202f? Ignorez simplement cet e-mail\u00a0: sans le code, personne ne voit vos licences.',
    sentTo: (email) =>
      `Cet e-mail a été envoyé à ${email}, car cette adresse a été saisie sur notre page pour les clients.`,
  },
  de: {
    subject: 'Ihr Code für Ihre Lizenzen',
    greeting: 'Guten Tag,',
    here: 'geben Sie diesen Code auf der Seite ein, auf der Sie ihn angefordert haben, im selben Browser.',
    label: 'Code',
    term: 'Er gilt einmal und 15 Minuten lang.',
    secret:
      'Geben Sie den Code nicht weiter, auch nicht an jemanden, der in unserem Namen anruft: Er öffnet alle Ihre Lizenzen.',
    notYou:
      'Sie haben keinen Code angefordert? Dann ignorieren Sie diese E-Mail. Ohne den Code sieht niemand Ihre Lizenzen.',
    sentTo: (email) =>
      `Diese E-Mail ging an ${email}, weil die Adresse auf unserer Seite für Kunden eingegeben wurde.`,
  },
};

interface CodeMailFacts {
  readonly sender: string;
  readonly code: string;
  readonly email: string;
}

/** Renders the e-mail with a code. It contains no link: scanners of mail open links and submit forms. */
export function renderCodeMail(
  language: Language,
  { sender, code, email }: CodeMailFacts,
): RenderedMail {
  const { subject, greeting, here, label, term, secret, notYou, sentTo } = texts[language];
  return renderMail({
    language,
    subject,
    preview: here,
    blocks: [
      { kind: 'title', text: subject },
      { kind: 'paragraph', text: greeting },
      { kind: 'paragraph', text: here },
      { kind: 'code', label, code, note: term },
      { kind: 'paragraph', text: secret },
      { kind: 'paragraph', text: notYou },
      { kind: 'lines', lines: [sender] },
    ],
    footer: [sentTo(email)],
  });
}
