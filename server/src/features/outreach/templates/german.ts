import { nameVersion, type LanguageTexts } from './template.ts';

/** The text after the comma of the greeting starts in lower case. */
export const german: LanguageTexts = {
  greeting: (name) => (name === null ? 'Guten Tag,' : `Guten Tag ${name},`),
  closing: 'Herzliche Grüße',
  reason: ({ sender, productName }) =>
    `${sender} schickt Ihnen diese E-Mail, weil ${productName} Sie interessieren könnte.`,
  unsubscribe: 'Keine E-Mails dieser Art mehr erhalten',
  newsHeading: 'Das ist neu',
  personal: ({ productName }) => ({
    subject: `${productName} eine Woche lang ausprobieren`,
    preview: 'Sieben Tage zur Probe, ohne Kreditkarte und ohne Konto.',
    opening: `ich entwickle ${productName} und schreibe Ihnen, weil ich glaube, dass es Ihnen nützen könnte.`,
    details:
      'Sie können es sieben Tage lang ausprobieren, ohne Kreditkarte und ohne Konto: herunterladen, öffnen, und die Woche beginnt.',
    button: `${productName} herunterladen`,
    ending:
      'Wenn es Ihnen hilft, freut mich das. Wenn Ihnen etwas fehlt, sagen Sie es mir: Eine Antwort auf diese E-Mail erreicht mich direkt.',
  }),
  sellers: ({ productName }) => ({
    subject: `${productName} für Ihr Geschäft und Ihre Kundschaft`,
    preview: 'Für alle, die damit verkaufen oder es selbst verkaufen.',
    opening: `ich entwickle ${productName}. Ich schreibe Ihnen, weil Sie verkaufen: vielleicht mit einer Software wie dieser an Ihrer Seite, vielleicht, indem Sie sie Ihrer Kundschaft anbieten. Für beides gibt es ein passendes Angebot.`,
    points: {
      heading: null,
      items: [
        'Eine Lizenz läuft auf mehreren Computern und zieht in einer Minute auf einen anderen um.',
        'Sie gilt auch dann weiter, wenn die Verbindung eine Zeit lang ausfällt.',
        'Die Schlüssel kommen per E-Mail, sobald bezahlt ist: Niemand muss auf Sie warten.',
      ],
    },
    button: 'Angebot für den Handel ansehen',
    ending: `Sie möchten ${productName} weiterverkaufen oder brauchen mehr, als die Seite anbietet? Schreiben Sie mir, wir finden eine Lösung, die für uns beide passt.`,
  }),
  update_personal: ({ productName, version }) => ({
    subject:
      version === null
        ? `Eine neue Version von ${productName} ist da`
        : `${productName} ${version} ist da`,
    preview: 'Ihre Lizenz bleibt, wie sie ist.',
    opening:
      version === null
        ? `ab sofort können Sie eine neue Version von ${productName} installieren.`
        : `ab sofort können Sie Version ${version} von ${productName} installieren.`,
    details:
      'Ihre Lizenz bleibt, wie sie ist: Installieren Sie die neue Version über die alte, und machen Sie dort weiter, wo Sie waren.',
    button: 'Neue Version holen',
    link: 'Alle Änderungen',
    ending:
      'Läuft etwas nicht so, wie es soll, oder fehlt Ihnen etwas? Antworten Sie auf diese E-Mail: Ich lese jede Antwort.',
  }),
  update_sellers: ({ productName, version }) => ({
    subject: `${nameVersion(productName, version)}: Neues für den Handel`,
    preview: 'Was Sie wissen sollten, bevor Ihre Kundschaft danach fragt.',
    opening: `${version === null ? 'eine neue Version' : `Version ${version}`} von ${productName} ist erschienen. Hier steht, was Sie wissen sollten, bevor Ihre Kundschaft danach fragt.`,
    points: {
      heading: 'Für Sie und Ihre Kundschaft',
      items: [
        'Alle Lizenzen bleiben gültig, auch die, die Sie verkauft haben.',
        'Die neue Version wird über die alte installiert; neu aktiviert werden muss nichts.',
      ],
    },
    button: 'Alle Neuigkeiten lesen',
    ending:
      'Wenn Sie für Ihre Kundschaft einen Text oder ein Bild brauchen, sagen Sie es mir, und ich schicke es Ihnen.',
  }),
  pi_tutorials: ({ productName }) => ({
    subject: `Raspberry Pi und ${productName}: Schritt für Schritt`,
    preview: 'Anleitungen, an deren Ende etwas läuft.',
    opening: `ein Raspberry Pi kostet wenig, braucht kaum Platz und läuft Tag und Nacht. Damit passt er gut zu ${productName}.`,
    details:
      'Deshalb habe ich Anleitungen geschrieben, die zeigen, wie beides zusammenarbeitet. Jede beginnt mit dem, was Sie brauchen, zeigt jeden Befehl und endet mit etwas, das läuft.',
    button: 'Anleitungen öffnen',
    ending:
      'Haben Sie selbst schon etwas gebaut? Zeigen Sie es mir; wenn Sie einverstanden sind, zeige ich es auch anderen.',
  }),
};
