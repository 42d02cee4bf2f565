import { LONGEST_IN_MINUTES, type BuyerTexts } from './texts.ts';

const minutesOf = (count: number): string => {
  if (count > LONGEST_IN_MINUTES) return `${Math.ceil(count / 60)} Stunden`;
  return count === 1 ? 'einer Minute' : `${count} Minuten`;
};

const daysOf = (count: number): string => (count === 1 ? 'einen Tag' : `${count} Tage`);

const lastDaysOf = (count: number): string =>
  count === 1 ? 'In den letzten 24 Stunden' : `In den letzten ${count} Tagen`;

const computersOf = (count: number): string => (count === 1 ? '1 Computer' : `${count} Computer`);

export const german: BuyerTexts = {
  title: 'Ihre Lizenzen',
  intro:
    'Hier sehen Sie Ihre Computer, geben einen nicht mehr genutzten frei und erhalten Ihre Schlüssel noch einmal.',
  keyDoor: {
    heading: 'Mit Ihrem Lizenzschlüssel',
    label: 'Lizenzschlüssel',
    hint: 'Aus der E-Mail nach Ihrem Kauf. Groß- und Kleinschreibung spielen keine Rolle.',
    button: 'Diese Lizenz anzeigen',
  },
  emailDoor: {
    heading: 'Mit Ihrer E-Mail-Adresse',
    label: 'E-Mail-Adresse',
    hint: 'Die Adresse, die Sie beim Kauf angegeben haben. Sie bekommen einen Code per E-Mail.',
    button: 'Code zusenden',
  },
  code: {
    title: 'Geben Sie Ihren Code ein',
    sent: 'Wenn es Lizenzen unter Ihrer Adresse gibt, ist eine E-Mail mit einem Code aus sechs Zeichen unterwegs. Der Code gilt 15 Minuten.',
    late: 'Keine E-Mail nach ein paar Minuten? Sehen Sie im Spam-Ordner nach, und versuchen Sie es mit der Adresse, die Sie beim Kauf angegeben haben.',
    label: 'Code',
    button: 'Meine Lizenzen anzeigen',
    again: 'Einen anderen Code anfordern',
  },
  errors: {
    title: (title) => `Fehler: ${title}`,
    key: 'Keine Lizenz hat diesen Schlüssel. Kopieren Sie ihn noch einmal vollständig aus der E-Mail.',
    address: 'Das ist keine E-Mail-Adresse. Geben Sie sie so ein: name@example.com.',
    codeWrong: (left) =>
      `Das ist nicht der Code. Verwenden Sie den aus der neuesten E-Mail; Sie haben noch ${left === 1 ? 'einen Versuch' : `${left} Versuche`}.`,
    codeOver: 'Dieser Code gilt nicht mehr. Fordern Sie einen neuen an.',
    codeLimit: (minutes) =>
      `Für diese Adresse wurden zu viele Codes angefordert. Verwenden Sie den aus der neuesten E-Mail, melden Sie sich mit Ihrem Lizenzschlüssel an, oder versuchen Sie es in ${minutesOf(minutes)} noch einmal.`,
    tooMany: (minutes) =>
      `Es gab zu viele Versuche. Versuchen Sie es in ${minutesOf(minutes)} noch einmal.`,
    signedOut: 'Sie sind nicht angemeldet. Eine Anmeldung gilt 30 Minuten und braucht Cookies.',
    notFound: 'Diese Seite zeigt keine Ihrer Lizenzen. Beginnen Sie noch einmal von vorn.',
    otherOrigin:
      'Eine andere Website hat dieses Formular gesendet. Öffnen Sie diese Seite selbst und versuchen Sie es noch einmal.',
    noMail:
      'Zurzeit kann keine E-Mail gesendet werden. Melden Sie sich mit Ihrem Lizenzschlüssel an.',
    https: 'Diese Seite funktioniert nur über https. Bitte melden Sie das dem Verkäufer.',
    tooLarge: 'Diese Datei ist zu groß für eine Anforderung.',
  },
  status: {
    active: ({ end, isCancelScheduled, isSubscription, isTrial }) => {
      if (end === null) return { sentence: 'Unbegrenzt gültig.', advice: null };
      if (isTrial) return { sentence: `Testzeitraum bis ${end}.`, advice: null };
      if (isCancelScheduled) {
        return {
          sentence: `Gültig bis ${end}. Das Abonnement ist gekündigt und endet dann.`,
          advice: null,
        };
      }
      const sentence = isSubscription ? `Gültig. Bezahlt bis ${end}.` : `Gültig bis ${end}.`;
      return { sentence, advice: null };
    },
    past_due: ({ end }) => ({
      sentence: `Noch gültig, aber die am ${end ?? 'letzten Termin'} fällige Zahlung ist nicht eingegangen.`,
      advice: 'Prüfen Sie Ihre Karte beim Zahlungsdienst, damit die Software weiterläuft.',
    }),
    expired: ({ end, isTrial }) => ({
      sentence: `${isTrial ? 'Der Testzeitraum' : 'Diese Lizenz'} endete am ${end ?? 'letzten Tag'}.`,
      advice: 'Kaufen Sie eine Lizenz, um die Software weiter zu nutzen.',
    }),
    canceled: ({ end }) => ({
      sentence: `Das Abonnement endete am ${end ?? 'letzten Tag'}.`,
      advice: 'Kaufen Sie eine Lizenz, um die Software weiter zu nutzen.',
    }),
    paused: ({ end }) => ({
      sentence: `Das Abonnement pausiert seit ${end ?? 'einiger Zeit'}.`,
      advice: 'Setzen Sie es beim Zahlungsdienst fort.',
    }),
    suspended: () => ({
      sentence: 'Diese Lizenz ist gesperrt, deshalb läuft die Software nicht.',
      advice: 'Schreiben Sie dem Verkäufer.',
    }),
    refunded: () => ({
      sentence: 'Die Zahlung wurde erstattet, deshalb ist diese Lizenz nicht mehr gültig.',
      advice: null,
    }),
    revoked: () => ({
      sentence: 'Der Verkäufer hat diese Lizenz beendet.',
      advice: 'Schreiben Sie dem Verkäufer, wenn Sie den Grund nicht kennen.',
    }),
  },
  list: {
    none: 'Unter dieser Adresse gibt es keine Lizenzen. Vielleicht haben Sie beim Kauf eine andere angegeben. Sie können sich auch mit Ihrem Lizenzschlüssel anmelden.',
    more: (count) =>
      `Das sind die neuesten ${count} Lizenzen. Eine ältere sehen Sie, wenn Sie sich mit ihrem Schlüssel anmelden.`,
    machines: (active, max) =>
      `${active} von ${max} ${max === 1 ? 'Computer' : 'Computern'} genutzt`,
    keyEnds: (hint) => `Schlüssel endet auf ${hint}`,
    open: 'Computer anzeigen',
    sendKeys: 'Meine Schlüssel per E-Mail zusenden',
    sendKeysHint: 'An die beim Kauf angegebene Adresse, für jede gültige Lizenz.',
    keysSent: 'Ihre Schlüssel sind unterwegs an die beim Kauf angegebene Adresse.',
    noKeys: 'Es wurde keine E-Mail gesendet: Es gibt keine gültige Lizenz mit E-Mail-Adresse.',
    signOut: 'Abmelden',
    back: 'Alle Lizenzen',
  },
  license: {
    updates: (end) => `Erhält Updates bis zum ${end}.`,
    updatesOver: (end) =>
      `Die Updates endeten am ${end}. Versionen, die bis dahin erschienen sind, funktionieren weiterhin.`,
    machines: 'Genutzte Computer',
    none: 'Kein Computer nutzt diese Lizenz.',
    unused:
      'Geben Sie den Schlüssel in der Software auf einem Computer ein, um sie dort zu nutzen.',
    lastSeen: 'Zuletzt gesehen',
    version: 'Version',
    system: 'System',
    since: 'Genutzt seit',
    offlineUntil: 'Ohne Verbindung bis',
    free: 'Freigeben',
    freed: (machine) => `Der Computer ${machine} wurde entfernt. Sein Platz ist frei.`,
    freedNotice: 'Der Inhaber der Lizenz wird per E-Mail informiert.',
    deactivated: (count) => `Entfernte Computer (${count})`,
    deactivatedOn: 'Entfernt am',
    moves: (left, days) =>
      left === 0
        ? `${lastDaysOf(days)} wurde diese Lizenz auf so vielen verschiedenen Computern genutzt, wie sie erlaubt. Vorerst können nur diese einen freien Platz nutzen.`
        : `Sie können diese Lizenz noch auf ${left === 1 ? 'einem weiteren neuen Computer' : `${left} weiteren neuen Computern`} nutzen. Ein neuer Computer zählt ${daysOf(days)} lang.`,
    portal: 'Karte, Rechnungen und Abonnement',
    renew: 'Verlängern',
    upgrade: 'Upgrade kaufen',
    page: (page, pages) => `Seite ${page} von ${pages}`,
    pages: 'Seiten der Computer',
    newer: 'Kürzlich gesehene',
    older: 'Länger nicht gesehene',
    oldest: 'Am längsten nicht gesehene',
    contact: (address) => `Fragen? Schreiben Sie an ${address}.`,
  },
  freeing: {
    title: 'Diesen Computer freigeben?',
    effect: (days) =>
      `Ein anderer Computer kann seinen Platz sofort einnehmen. Die Software auf diesem Computer läuft vielleicht noch bis zu ${daysOf(days)}, bis sie die Lizenz wieder prüft.`,
    noMoves: (days) =>
      `${lastDaysOf(days)} wurde diese Lizenz aber auf so vielen verschiedenen Computern genutzt, wie sie erlaubt: Vorerst kann nur einer von diesen den Platz einnehmen.`,
    mailed: 'Der Inhaber der Lizenz wird per E-Mail informiert.',
    button: 'Diesen Computer freigeben',
    cancel: 'Behalten',
    already: 'Dieser Computer wurde schon entfernt. Sein Platz ist frei.',
    airgapped: (until) =>
      `Dieser Computer läuft bis ${until} ohne Verbindung. Sein Platz wird vorher nicht frei. Ist er verloren oder defekt, schreiben Sie dem Verkäufer.`,
    limit: (limit, days, from) =>
      `${lastDaysOf(days)} ${limit === 1 ? 'wurde' : 'wurden'} ${computersOf(limit)} freigegeben, mehr ist nicht möglich. Der nächste kann ab ${from} freigegeben werden. Brauchen Sie es früher, schreiben Sie dem Verkäufer.`,
  },
  airgap: {
    link: 'Einen Computer ohne Verbindung aktivieren',
    title: 'Ein Computer ohne Verbindung',
    about: (days) =>
      `Für einen Computer, der nie ins Internet kommt. Er läuft dann ${daysOf(days)} lang, und mit einer neuen Anforderung noch einmal so lange.`,
    steps: [
      'Wählen Sie in der Software auf jenem Computer die Aktivierung ohne Verbindung. Sie zeigt eine Anforderung.',
      'Bringen Sie die Anforderung hierher: Scannen Sie ihren Code mit dem Telefon, oder bringen Sie sie als Text oder Datei.',
      'Nehmen Sie die Antwort mit zu jenem Computer, und fügen Sie sie in der Software ein.',
    ],
    received: 'Ihre Anforderung ist da. Melden Sie sich an, um die Antwort zu erhalten.',
    choose: 'Wählen Sie die Lizenz, die der Computer der Anforderung nutzen soll.',
    none: 'Keine dieser Lizenzen ist für die Software der Anforderung.',
    use: 'Diese Lizenz nutzen',
    label: 'Anforderung als Text',
    file: 'Oder die Anforderung als Datei',
    button: 'Antwort erzeugen',
    done: 'Ihre Antwort ist fertig',
    doneAbout: (machine) =>
      machine === null
        ? 'Sie gilt nur auf dem Computer der Anforderung.'
        : `Sie gilt nur auf dem Computer „${machine}“.`,
    validUntil: (until) => `Sie gilt bis ${until}. So lange behält dieser Computer seinen Platz.`,
    renew: 'Um danach weiterzumachen, bringen Sie vor diesem Tag eine neue Anforderung hierher.',
    textLabel: 'Antwort zum Einfügen in die Software',
    fileLink: 'Als Datei speichern',
    codeLabel: 'Die Antwort als Code, für einen Computer mit Kamera',
    errors: {
      missing: 'In diesem Text ist keine Anforderung. Sie beginnt mit LKR1.',
      damaged:
        'Ein Teil der Anforderung fehlt oder ist verändert. Kopieren Sie sie noch einmal vollständig.',
      version:
        'Diese neuere Art von Anforderung versteht diese Seite nicht. Bitte melden Sie das dem Verkäufer.',
      content:
        'Die Software hat eine Anforderung erzeugt, die diese Seite nicht versteht. Bitte melden Sie das dem Verkäufer.',
      machine: 'Die Anforderung nennt ihren Computer nicht. Bitte melden Sie das dem Verkäufer.',
      product:
        'Diese Anforderung gehört zu einem anderen Produkt als diese Lizenz. Wählen Sie die Lizenz jenes Produkts.',
      full: (max) =>
        `Diese Lizenz wird auf ${max === 1 ? 'ihrem einen Computer' : `allen ${max} Computern`} genutzt. Geben Sie ${max === 1 ? 'ihn' : 'einen'} frei, und bringen Sie die Anforderung noch einmal.`,
      moves: (from) =>
        `Diese Lizenz wurde auf so vielen verschiedenen Computern genutzt, wie sie erlaubt. Der nächste ist ab ${from} möglich. Brauchen Sie es früher, schreiben Sie dem Verkäufer.`,
    },
  },
};
