import { LANGUAGES, type Language } from '@latchkey/contract';

/** Returns the language of a locale such as `de`, `fr-CA` or `fr_CA`; English by default. */
export function chooseLanguage(locale: string | null): Language {
  const primary = locale?.split(/[-_]/u)[0]?.toLowerCase();
  return LANGUAGES.find((language) => language === primary) ?? 'en';
}

/** The texts of the e-mail with keys in one language. */
interface KeyEmailTexts {
  /** @param product null for several products */
  readonly subject: (keys: number, product: string | null) => string;
  /** @param name null if unknown */
  readonly greeting: (name: string | null) => string;
  readonly thanks: (keys: number) => string;
  /** Introduces a key that is sent again or without a purchase. */
  readonly here: string;
  readonly machines: (count: number) => string;
  /** @param end a day */
  readonly updates: (end: string) => string;
  readonly howTo: string;
  readonly steps: readonly string[];
  readonly moving: string;
  /** The link to the page for buyers. */
  readonly page: string;
  readonly keep: string;
  readonly order: (transactionId: string) => string;
}

const keyEnglish: KeyEmailTexts = {
  subject: (keys, product) => {
    const what = keys === 1 ? 'Your license key' : `Your ${keys} license keys`;
    return product === null ? what : `${what} for ${product}`;
  },
  greeting: (name) => (name === null ? 'Hello,' : `Hello ${name},`),
  thanks: (keys) =>
    keys === 1
      ? 'Thank you for your purchase. Here is your license key.'
      : 'Thank you for your purchase. Here are your license keys.',
  here: 'Here is your license key.',
  machines: (count) =>
    count === 1 ? 'For one computer.' : `For up to ${count} computers at the same time.`,
  updates: (end) => `With all updates until ${end}.`,
  howTo: 'How to activate',
  steps: [
    'Install the software and open it.',
    'Copy the key and paste it where the software asks for your license.',
    'Confirm. The computer needs an internet connection for this.',
  ],
  moving:
    'Changing computers? Deactivate the license on the old one first, and its place is free again.',
  page: 'See your computers, and free one that is lost or replaced',
  keep: 'Please keep this e-mail: you need the key again when you reinstall the software.',
  order: (transactionId) => `Order ${transactionId}`,
};

const keyFrench: KeyEmailTexts = {
  subject: (keys, product) => {
    const what = keys === 1 ? 'Votre clé de licence' : `Vos ${keys} clés de licence`;
    return product === null ? what : `${what} pour ${product}`;
  },
  greeting: (name) => (name === null ? 'Bonjour,' : `Bonjour ${name},`),
  thanks: (keys) =>
    keys === 1
      ? 'Merci pour votre achat. Voici votre clé de licence.'
      : 'Merci pour votre achat. Voici vos clés de licence.',
  here: 'Voici votre clé de licence.',
  machines: (count) =>
    count === 1 ? 'Pour un ordinateur.' : `Pour ${count} ordinateurs au maximum en même temps.`,
  updates: (end) => `Mises à jour comprises jusqu’au ${end}.`,
  howTo: 'Comment activer votre licence',
  steps: [
    'Installez le logiciel et ouvrez-le.',
    'Copiez la clé et collez-la à l’endroit où le logiciel vous demande votre licence.',
    'Validez. L’ordinateur doit être connecté à Internet pour cette étape.',
  ],
  moving:
    'Vous changez d’ordinateur\u202f? Désactivez d’abord la licence sur l’ancien\u00a0: sa place est alors de nouveau libre.',
  page: 'Voir vos ordinateurs et libérer celui qui est perdu ou remplacé',
  keep: 'Conservez cet e-mail\u00a0: vous aurez besoin de la clé si vous réinstallez le logiciel.',
  order: (transactionId) => `Commande ${transactionId}`,
};

const keyGerman: KeyEmailTexts = {
  subject: (keys, product) => {
    const what = keys === 1 ? 'Ihr Lizenzschlüssel' : `Ihre ${keys} Lizenzschlüssel`;
    return product === null ? what : `${what} für ${product}`;
  },
  greeting: (name) => (name === null ? 'Guten Tag,' : `Guten Tag ${name},`),
  thanks: (keys) =>
    keys === 1
      ? 'vielen Dank für Ihren Kauf. Hier ist Ihr Lizenzschlüssel.'
      : 'vielen Dank für Ihren Kauf. Hier sind Ihre Lizenzschlüssel.',
  here: 'hier ist Ihr Lizenzschlüssel.',
  machines: (count) =>
    count === 1 ? 'Für einen Computer.' : `Für bis zu ${count} Computer gleichzeitig.`,
  updates: (end) => `Mit allen Updates bis zum ${end}.`,
  howTo: 'So aktivieren Sie die Software',
  steps: [
    'Installieren und öffnen Sie die Software.',
    'Kopieren Sie den Schlüssel und fügen Sie ihn dort ein, wo die Software nach Ihrer Lizenz fragt.',
    'Bestätigen Sie. Der Computer muss dafür mit dem Internet verbunden sein.',
  ],
  moving:
    'Sie wechseln den Computer? Deaktivieren Sie die Lizenz zuerst auf dem alten, dann ist sein Platz wieder frei.',
  page: 'Ihre Computer ansehen und einen verlorenen oder ersetzten freigeben',
  keep: 'Bitte bewahren Sie diese E-Mail auf: Bei einer Neuinstallation brauchen Sie den Schlüssel wieder.',
  order: (transactionId) => `Bestellung ${transactionId}`,
};

export const keyEmailTexts: Readonly<Record<Language, KeyEmailTexts>> = {
  en: keyEnglish,
  fr: keyFrench,
  de: keyGerman,
};

/** The additional texts of the e-mail with a replaced key in one language. */
interface ReplacedKeyTexts {
  readonly subject: (product: string) => string;
  readonly replaced: string;
  readonly whatToDo: string;
  readonly machinesKept: string;
  readonly machinesDropped: string;
  readonly keep: string;
}

const replacedEnglish: ReplacedKeyTexts = {
  subject: (product) => `Your new license key for ${product}`,
  replaced:
    'Your license key has been replaced. Here is the new one; the previous key no longer works.',
  whatToDo: 'What to do now',
  machinesKept:
    'Your computers stay activated. Enter the new key where the software asks for your license.',
  machinesDropped:
    'All computers were deactivated. Enter the new key on each computer that you use to activate it again.',
  keep: 'Please keep this e-mail and delete the earlier ones: you need the new key when you reinstall the software.',
};

const replacedFrench: ReplacedKeyTexts = {
  subject: (product) => `Votre nouvelle clé de licence pour ${product}`,
  replaced:
    'Votre clé de licence a été remplacée. Voici la nouvelle\u00a0; l’ancienne clé ne fonctionne plus.',
  whatToDo: 'Ce que vous devez faire',
  machinesKept:
    'Vos ordinateurs restent activés. Saisissez la nouvelle clé à l’endroit où le logiciel vous demande votre licence.',
  machinesDropped:
    'Tous les ordinateurs ont été désactivés. Saisissez la nouvelle clé sur chacun de ceux que vous utilisez pour le réactiver.',
  keep: 'Conservez cet e-mail et supprimez les précédents\u00a0: vous aurez besoin de la nouvelle clé si vous réinstallez le logiciel.',
};

const replacedGerman: ReplacedKeyTexts = {
  subject: (product) => `Ihr neuer Lizenzschlüssel für ${product}`,
  replaced:
    'Ihr Lizenzschlüssel wurde ersetzt. Hier ist der neue; der bisherige Schlüssel funktioniert nicht mehr.',
  whatToDo: 'Was jetzt zu tun ist',
  machinesKept:
    'Ihre Computer bleiben aktiviert. Geben Sie den neuen Schlüssel dort ein, wo die Software nach Ihrer Lizenz fragt.',
  machinesDropped:
    'Alle Computer wurden deaktiviert. Geben Sie den neuen Schlüssel auf jedem Computer ein, den Sie nutzen, um ihn wieder zu aktivieren.',
  keep: 'Bitte bewahren Sie diese E-Mail auf und löschen Sie frühere: Bei einer Neuinstallation brauchen Sie den neuen Schlüssel.',
};

export const replacedKeyTexts: Readonly<Record<Language, ReplacedKeyTexts>> = {
  en: replacedEnglish,
  fr: replacedFrench,
  de: replacedGerman,
};
