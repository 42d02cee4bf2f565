import type { KeyEmailLanguage } from './key-email-texts.ts';

/** What the e-mail with a new key says in one language, beside what every e-mail with keys says. */
export interface ReplacedKeyTexts {
  readonly subject: (product: string) => string;
  readonly replaced: string;
  readonly whatToDo: string;
  readonly machinesKept: string;
  readonly machinesDropped: string;
  readonly keep: string;
}

const english: ReplacedKeyTexts = {
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

const french: ReplacedKeyTexts = {
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

const german: ReplacedKeyTexts = {
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

export const replacedKeyTexts: Readonly<Record<KeyEmailLanguage, ReplacedKeyTexts>> = {
  en: english,
  fr: french,
  de: german,
};
