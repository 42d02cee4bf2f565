/** The languages that the e-mail is written in. */
export const KEY_EMAIL_LANGUAGES = ['en', 'fr', 'de'] as const;

export type KeyEmailLanguage = (typeof KEY_EMAIL_LANGUAGES)[number];

/** The language for a locale such as `de`, `fr-CA` or `fr_CA`; English for what is not known or not there. */
export function chooseLanguage(locale: string | null): KeyEmailLanguage {
  const primary = locale?.split(/[-_]/u)[0]?.toLowerCase();
  return KEY_EMAIL_LANGUAGES.find((language) => language === primary) ?? 'en';
}

/** What the e-mail says in one language. */
export interface KeyEmailTexts {
  /** @param product null when the keys are for several */
  readonly subject: (keys: number, product: string | null) => string;
  /** @param name null: nobody is named */
  readonly greeting: (name: string | null) => string;
  readonly thanks: (keys: number) => string;
  readonly machines: (count: number) => string;
  readonly howTo: string;
  readonly steps: readonly string[];
  readonly moving: string;
  readonly keep: string;
  readonly order: (transactionId: string) => string;
}

const english: KeyEmailTexts = {
  subject: (keys, product) => {
    const what = keys === 1 ? 'Your license key' : `Your ${keys} license keys`;
    return product === null ? what : `${what} for ${product}`;
  },
  greeting: (name) => (name === null ? 'Hello,' : `Hello ${name},`),
  thanks: (keys) =>
    keys === 1
      ? 'Thank you for your purchase. Here is your license key.'
      : 'Thank you for your purchase. Here are your license keys.',
  machines: (count) =>
    count === 1 ? 'For one computer.' : `For up to ${count} computers at the same time.`,
  howTo: 'How to activate',
  steps: [
    'Install the software and open it.',
    'Copy the key and paste it where the software asks for your license.',
    'Confirm. The computer needs an internet connection for this.',
  ],
  moving:
    'Changing computers? Deactivate the license on the old one first, and its place is free again.',
  keep: 'Please keep this e-mail: you need the key again when you reinstall the software.',
  order: (transactionId) => `Order ${transactionId}`,
};

const french: KeyEmailTexts = {
  subject: (keys, product) => {
    const what = keys === 1 ? 'Votre clé de licence' : `Vos ${keys} clés de licence`;
    return product === null ? what : `${what} pour ${product}`;
  },
  greeting: (name) => (name === null ? 'Bonjour,' : `Bonjour ${name},`),
  thanks: (keys) =>
    keys === 1
      ? 'Merci pour votre achat. Voici votre clé de licence.'
      : 'Merci pour votre achat. Voici vos clés de licence.',
  machines: (count) =>
    count === 1 ? 'Pour un ordinateur.' : `Pour ${count} ordinateurs au maximum en même temps.`,
  howTo: 'Comment activer votre licence',
  steps: [
    'Installez le logiciel et ouvrez-le.',
    'Copiez la clé et collez-la à l’endroit où le logiciel vous demande votre licence.',
    'Validez. L’ordinateur doit être connecté à Internet pour cette étape.',
  ],
  moving:
    'Vous changez d’ordinateur\u202f? Désactivez d’abord la licence sur l’ancien\u00a0: sa place est alors de nouveau libre.',
  keep: 'Conservez cet e-mail\u00a0: vous aurez besoin de la clé si vous réinstallez le logiciel.',
  order: (transactionId) => `Commande ${transactionId}`,
};

const german: KeyEmailTexts = {
  subject: (keys, product) => {
    const what = keys === 1 ? 'Ihr Lizenzschlüssel' : `Ihre ${keys} Lizenzschlüssel`;
    return product === null ? what : `${what} für ${product}`;
  },
  greeting: (name) => (name === null ? 'Guten Tag,' : `Guten Tag ${name},`),
  thanks: (keys) =>
    keys === 1
      ? 'vielen Dank für Ihren Kauf. Hier ist Ihr Lizenzschlüssel.'
      : 'vielen Dank für Ihren Kauf. Hier sind Ihre Lizenzschlüssel.',
  machines: (count) =>
    count === 1 ? 'Für einen Computer.' : `Für bis zu ${count} Computer gleichzeitig.`,
  howTo: 'So aktivieren Sie die Software',
  steps: [
    'Installieren und öffnen Sie die Software.',
    'Kopieren Sie den Schlüssel und fügen Sie ihn dort ein, wo die Software nach Ihrer Lizenz fragt.',
    'Bestätigen Sie. Der Computer muss dafür mit dem Internet verbunden sein.',
  ],
  moving:
    'Sie wechseln den Computer? Deaktivieren Sie die Lizenz zuerst auf dem alten, dann ist sein Platz wieder frei.',
  keep: 'Bitte bewahren Sie diese E-Mail auf: Bei einer Neuinstallation brauchen Sie den Schlüssel wieder.',
  order: (transactionId) => `Bestellung ${transactionId}`,
};

export const keyEmailTexts: Readonly<Record<KeyEmailLanguage, KeyEmailTexts>> = {
  en: english,
  fr: french,
  de: german,
};
